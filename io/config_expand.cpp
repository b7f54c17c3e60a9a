// SPDX-License-Identifier: BSD-3-Clause
// Expansion of variables: a text is cut into pieces (literal, variable, environment, expression), each worked out.
#include "io/config_expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "io/ascii.hpp"
#include "io/config_values.hpp"

namespace gridstride::config {

namespace {

constexpr int deepest_chain = 64;        // variables that need each other in a row
constexpr int deepest_parentheses = 64;  // of an expression

std::size_t name_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() &&
           (is_letter(text[length]) || text[length] == '_' || (length > 0 && is_digit(text[length]))))
        ++length;
    return length;
}

struct Piece {
    enum class Kind { literal, variable, environment, expression } kind;
    std::string text;                      // the literal, the name, the expression
    std::optional<std::string> otherwise;  // of environment
};

std::vector<Piece> pieces_of(std::string_view text) {
    std::vector<Piece> pieces;
    const auto literal = [&](std::string_view part) {
        if (part.empty()) return;
        if (pieces.empty() || pieces.back().kind != Piece::Kind::literal)
            pieces.push_back({Piece::Kind::literal, {}, {}});
        pieces.back().text += part;
    };
    while (!text.empty()) {
        const std::size_t dollar = text.find('$');
        literal(text.substr(0, dollar));
        if (dollar == std::string_view::npos) break;
        text.remove_prefix(dollar + 1);
        if (!text.empty() && text[0] == '$') {
            literal("$");
            text.remove_prefix(1);
        } else if (!text.empty() && text[0] == '{') {
            const std::size_t end = text.find('}');
            if (end == std::string_view::npos) throw ExpandError{"a '${' without its '}'"};
            const std::string_view inner = trimmed(text.substr(1, end - 1));
            text.remove_prefix(end + 1);
            if (inner.empty()) throw ExpandError{"an empty ${}: write ${name}"};
            if (inner.substr(0, 4) == "env:") {
                const std::string_view rest = inner.substr(4);
                const std::size_t split = rest.find(":-");
                const std::string_view name = rest.substr(0, split);
                if (name_length(name) != name.size() || name.empty())
                    throw ExpandError{
                        fmt::format("${{{}}}: write ${{env:NAME}} or ${{env:NAME:-default}}", brief(inner))};
                Piece piece{Piece::Kind::environment, std::string(name), {}};
                if (split != std::string_view::npos) piece.otherwise = std::string(rest.substr(split + 2));
                pieces.push_back(std::move(piece));
            } else if (name_length(inner) == inner.size()) {
                pieces.push_back({Piece::Kind::variable, std::string(inner), {}});
            } else {
                pieces.push_back({Piece::Kind::expression, std::string(inner), {}});
            }
        } else if (const std::size_t length = name_length(text); length > 0) {
            pieces.push_back({Piece::Kind::variable, std::string(text.substr(0, length)), {}});
            text.remove_prefix(length);
        } else {
            throw ExpandError{"a '$' begins a variable ($name, ${...}): a dollar itself is '$$'"};
        }
    }
    return pieces;
}

std::string environment(const Piece& piece) {
    if (const char* value = std::getenv(piece.text.c_str()); value != nullptr) {
        if (!is_utf8(value))
            throw ExpandError{fmt::format("the environment variable {} is not UTF-8", brief(piece.text))};
        return value;
    }
    if (piece.otherwise) return *piece.otherwise;
    throw ExpandError{fmt::format("the environment variable {} is not set (a default: ${{env:{}:-value}})",
                                  brief(piece.text), brief(piece.text))};
}

bool is_case_name(std::string_view name) {
    return std::find(std::begin(case_names), std::end(case_names), name) != std::end(case_names);
}

/// Recursive descent over one expression.
class Expression {
  public:
    Expression(std::string_view text, const std::function<std::int64_t(const std::string&)>& variable)
        : whole_(text), rest_(text), variable_(variable) {}

    std::int64_t value() {
        const std::int64_t result = sum(0);
        skip();
        if (!rest_.empty()) fail(fmt::format("'{}' is not expected", rest_.substr(0, 20)));
        return result;
    }

  private:
    [[noreturn]] void fail(const std::string& why) const {
        throw ExpandError{
            fmt::format("${{{}}}: {}; integers, names and + - * // % ( ) are taken", whole_.substr(0, 80), why)};
    }
    [[noreturn]] void overflow() const {
        throw ExpandError{fmt::format("${{{}}}: the result is outside of the 64-bit integers", whole_.substr(0, 80))};
    }
    void skip() {
        while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    }
    bool take(std::string_view word) {
        skip();
        if (rest_.substr(0, word.size()) != word) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    std::int64_t sum(int depth) {
        std::int64_t left = product(depth);
        for (;;) {
            if (take("+")) {
                if (__builtin_add_overflow(left, product(depth), &left)) overflow();
            } else if (take("-")) {
                if (__builtin_sub_overflow(left, product(depth), &left)) overflow();
            } else {
                return left;
            }
        }
    }

    std::int64_t product(int depth) {
        std::int64_t left = factor(depth);
        for (;;) {
            if (take("//")) {
                left = divide(left, factor(depth)).first;
            } else if (take("%")) {
                const std::int64_t right = factor(depth);
                left = right == -1 ? 0 : divide(left, right).second;
            } else if (take("**")) {
                fail("powers are not taken");
            } else if (take("*")) {
                if (__builtin_mul_overflow(left, factor(depth), &left)) overflow();
            } else if (take("/")) {
                fail("'/' is not taken, write '//' (rounded down)");
            } else {
                return left;
            }
        }
    }

    /// Quotient rounded down, and the remainder with the divisor's sign.
    std::pair<std::int64_t, std::int64_t> divide(std::int64_t a, std::int64_t b) const {
        if (b == 0) throw ExpandError{fmt::format("${{{}}}: division by zero", whole_.substr(0, 80))};
        if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) overflow();
        std::int64_t quotient = a / b, remainder = a % b;
        if (remainder != 0 && (remainder < 0) != (b < 0)) {
            --quotient;
            remainder += b;
        }
        return {quotient, remainder};
    }

    std::int64_t factor(int depth) {
        bool negative = false;
        for (;;) {
            if (take("-"))
                negative = !negative;
            else if (!take("+"))
                break;
        }
        std::int64_t result = 0;
        if (take("(")) {
            if (depth >= deepest_parentheses) fail("too many parentheses");
            result = sum(depth + 1);
            if (!take(")")) fail("a ')' is missing");
        } else if (const std::size_t length = name_length(rest_); length > 0) {
            result = variable_(std::string(rest_.substr(0, length)));
            rest_.remove_prefix(length);
        } else {
            std::size_t end = 0;
            while (end < rest_.size() && (is_digit(rest_[end]) || rest_[end] == '_')) ++end;
            std::string problem;
            const auto number = to_number(rest_.substr(0, end), &problem);
            if (!number)
                fail(rest_.empty() ? "a number or a name is missing"
                                   : fmt::format("'{}' is no integer{}", rest_.substr(0, 20), problem));
            result = *number->integer;
            rest_.remove_prefix(end);
        }
        if (negative && __builtin_sub_overflow(std::int64_t{0}, result, &result)) overflow();
        return result;
    }

    std::string_view whole_, rest_;
    const std::function<std::int64_t(const std::string&)>& variable_;
};

}  // namespace

void names_in(const Node& node, std::set<std::string>& names) {
    for (const Node& item : node.items) names_in(item, names);
    for (const Node::Entry& entry : node.entries) names_in(entry.value, names);
    if (!node.scalar() || node.text.find('$') == std::string::npos) return;
    try {
        for (const Piece& piece : pieces_of(node.text)) {
            if (piece.kind == Piece::Kind::variable) names.insert(piece.text);
            if (piece.kind != Piece::Kind::expression) continue;
            for (std::size_t i = 0; i < piece.text.size();) {
                const std::size_t length = name_length(std::string_view(piece.text).substr(i));
                if (length > 0) names.insert(piece.text.substr(i, length));
                i += std::max<std::size_t>(length, 1);
            }
        }
    } catch (const ExpandError&) {  // told when the value itself is expanded
    }
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) result.append(c == '$' ? 2 : 1, c);
    return result;
}

bool is_variable_name(std::string_view name) {
    return !name.empty() && name_length(name) == name.size();
}

std::int64_t evaluate(std::string_view expression, const std::function<std::int64_t(const std::string&)>& variable) {
    return Expression(expression, variable).value();
}

Variables::Variables(std::map<std::string, Node> vars, std::vector<std::string> jobs,
                     std::map<std::string, std::string> elsewhere)
    : jobs_(std::move(jobs)), elsewhere_(std::move(elsewhere)) {
    for (auto& [name, node] : vars) variables_[name].raw = std::move(node);
}

void Variables::resolve(Diagnostics& diagnostics) {
    for (const auto& [name, variable] : variables_) work_out(name, diagnostics, 0);
}

void Variables::work_out(const std::string& name, Diagnostics& diagnostics, int depth) {
    Variable& variable = variables_.at(name);
    if (variable.state != Variable::State::untouched) return;
    variable.state = Variable::State::busy;
    need(variable.raw, diagnostics, depth);
    Node value;
    const bool sound = expand_into(variable.raw, value, diagnostics);
    variable.value = std::move(value);
    variable.state = sound ? Variable::State::done : Variable::State::failed;
}

/// Works out the variables that a value of `vars` refers to, before it is itself.
void Variables::need(const Node& node, Diagnostics& diagnostics, int depth) {
    std::set<std::string> names;
    names_in(node, names);
    for (const std::string& name : names) {
        const auto found = variables_.find(name);
        if (found == variables_.end() || found->second.state != Variable::State::untouched) continue;
        if (depth < deepest_chain) {
            work_out(name, diagnostics, depth + 1);
            continue;
        }
        diagnostics.add(node.mark(),
                        fmt::format("more than {} variables that need each other in a row", deepest_chain));
        found->second.state = Variable::State::failed;
    }
}

const Node& Variables::value_of(const std::string& name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
        if (is_case_name(name))
            throw ExpandError{
                fmt::format("${} exists only in `outputs`, once a case for each variant and device", name)};
        if (std::find(jobs_.begin(), jobs_.end(), name) != jobs_.end())
            throw ExpandError{
                fmt::format("'{}' is a job: its output is an input written ${}:/OUTPUT", brief(name), brief(name))};
        if (forgiving_) throw ExpandError{{}, true};
        if (const auto swept = elsewhere_.find(name); swept != elsewhere_.end())
            throw ExpandError{
                fmt::format("'{}' is set by the sweep of job '{}', for it and the jobs that read it alone: "
                            "give it a value in `vars` too",
                            brief(name), brief(swept->second))};
        std::vector<std::string> names;
        for (const auto& [known, variable] : variables_) names.push_back(known);
        const std::string all = names.empty() ? "`vars` has none" : "`vars` has " + joined(names);
        names.insert(names.end(), jobs_.begin(), jobs_.end());
        throw ExpandError{fmt::format("no variable is called '{}'{}; {} (a dollar itself is '$$')", brief(name),
                                      did_you_mean(name, names), all)};
    }
    switch (found->second.state) {
        case Variable::State::done:
            return found->second.value;
        case Variable::State::failed:
            throw ExpandError{{}, true};
        default:
            throw ExpandError{fmt::format("the variable '{}' needs itself", brief(name))};
    }
}

std::string Variables::text_of(const std::string& name) const {
    const Node& value = value_of(name);
    if (!value.scalar())
        throw ExpandError{fmt::format("the variable '{}' is {}: only text and numbers can stand within a text",
                                      brief(name),
                                      value.list()  ? "a list"
                                      : value.map() ? "a mapping"
                                                    : "null")};
    return value.text;
}

std::int64_t Variables::integer_of(const std::string& name) const {
    const Node& value = value_of(name);
    if (value.scalar() && !value.quoted)
        if (const auto number = to_number(value.text); number && number->integer) return *number->integer;
    throw ExpandError{fmt::format("the variable '{}' is {}, not an integer", brief(name), show(value))};
}

std::string Variables::write(std::string_view text, const std::map<std::string, std::string>& more, bool settle) const {
    std::string result;
    for (const Piece& piece : pieces_of(text)) {
        std::string part;
        switch (piece.kind) {
            case Piece::Kind::literal:
                part = piece.text;
                break;
            case Piece::Kind::variable: {
                const auto found = more.find(piece.text);
                part = found == more.end() ? text_of(piece.text) : found->second;
                break;
            }
            case Piece::Kind::environment:
                part = environment(piece);
                break;
            case Piece::Kind::expression:
                part =
                    fmt::format("{}", evaluate(piece.text, [&](const std::string& name) { return integer_of(name); }));
                break;
        }
        const bool kept = settle && piece.kind == Piece::Kind::variable && more.count(piece.text) > 0;
        result += settle && !kept ? escaped(part) : part;
        if (result.size() > largest_text) throw ExpandError{"more than 1 MiB of text once expanded"};
    }
    return result;
}

std::string Variables::expand(std::string_view text, const std::map<std::string, std::string>& more) const {
    return write(text, more, false);
}

std::string Variables::settle(std::string_view text) const {
    std::map<std::string, std::string> kept;
    for (const std::string_view name : case_names) kept.emplace(name, fmt::format("${{{}}}", name));
    return write(text, kept, true);
}

Node Variables::expand_scalar(const Node& node) {
    const std::vector<Piece> pieces = pieces_of(node.text);
    Node result;
    if (pieces.size() == 1 && pieces[0].kind == Piece::Kind::variable) {
        const Node& value = value_of(pieces[0].text);
        if (!budget_.take(value))
            throw ExpandError{fmt::format("more than {} values, or {} MiB of text, once variables are expanded",
                                          most_values, most_bytes >> 20)};
        result = value;
    } else {
        result.kind = Node::Kind::scalar;
        result.text = expand(node.text, {});
        const bool alone = pieces.size() == 1 && pieces[0].kind != Piece::Kind::literal;
        result.quoted = node.quoted && !alone;  // a value from the environment or an expression has its own type
        if (!budget_.take(result)) throw ExpandError{"too much text once variables are expanded"};
    }
    result.source = node.source;
    result.line = node.line;
    result.column = node.column;
    return result;
}

bool Variables::expand_into(const Node& node, Node& result, Diagnostics& diagnostics) {
    if (node.scalar() && node.text.find('$') != std::string::npos) {
        try {
            result = expand_scalar(node);
            return true;
        } catch (const ExpandError& problem) {
            if (!problem.reported) diagnostics.add(node.mark(), problem.message);
            return false;
        }
    }
    result.kind = node.kind;
    result.merged = node.merged;
    result.quoted = node.quoted;
    result.source = node.source;
    result.line = node.line;
    result.column = node.column;
    result.text = node.text;
    bool sound = true;
    for (const Node& item : node.items) sound &= expand_into(item, result.items.emplace_back(), diagnostics);
    for (const Node::Entry& entry : node.entries) {
        result.entries.push_back({entry.key, entry.mark, {}});
        sound &= expand_into(entry.value, result.entries.back().value, diagnostics);
    }
    return sound;
}

std::optional<Node> Variables::expand(const Node& node, Diagnostics& diagnostics) {
    Node result;
    if (!expand_into(node, result, diagnostics)) return {};
    return result;
}

}  // namespace gridstride::config
