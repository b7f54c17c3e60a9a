// SPDX-License-Identifier: BSD-3-Clause
// The strict reading of YAML: yaml-cpp's events become our own tree, within bounds, and what YAML would let pass in
// silence (duplicate keys, `<<`, tags, octal-looking numbers, yes and no) is an error with its place.
#include "io/config_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <unordered_map>

namespace gridstride::config {

namespace {

constexpr std::size_t most_brackets = 100'000;    // yaml-cpp reads ahead of brackets, whatever we do with its events
constexpr std::size_t longest_measured = 20'000;  // a longer line's columns are counted in bytes

struct Stop {};  // an error after which no tree is left

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Length of the UTF-8 character at `at`; 0: not UTF-8 (overlong forms and surrogates too).
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF5 ? 0 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80U) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) > 0x9F) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return length;
}

/// A value that YAML 1.1 reads as a boolean and YAML 1.2 as text.
bool yes_or_no(std::string_view text) {
    constexpr std::array<std::string_view, 12> words{"yes", "Yes", "YES", "no",  "No",  "NO",
                                                     "on",  "On",  "ON",  "off", "Off", "OFF"};
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// 010: octal to some readers of YAML, decimal to others.
bool leading_zero(std::string_view text) {
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    return text.size() > 1 && text[0] == '0' && text.find_first_not_of("0123456789_") == std::string_view::npos;
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) return lines;
        begin = end + 1;
    }
}

/// `${...}` from the first dollar of the line on, for a message.
std::string variable_in(std::string_view line) {
    const std::size_t begin = line.find("${");
    if (begin == std::string_view::npos) return {};
    const std::size_t end = line.find('}', begin);
    return brief(line.substr(begin, end == std::string_view::npos ? end : end + 1 - begin));
}

/// "op: sum" of the line "op:sum", whose colon lacks its space; else nothing.
std::string spaced(std::string_view line) {
    const std::size_t begin = std::min(line.find_first_not_of(" -"), line.size());
    const std::size_t colon = line.find(':', begin);
    if (colon == std::string_view::npos || colon == begin || colon + 1 >= line.size() || line[colon + 1] == ' ')
        return {};
    const std::string_view key = line.substr(begin, colon - begin);
    if (key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string_view::npos) return {};
    return fmt::format("{}: {}", key, brief(line.substr(colon + 1)));
}

/// "op: sum" of the line "op = sum"; else nothing.
std::string assigned(std::string_view line) {
    const std::size_t begin = std::min(line.find_first_not_of(" -"), line.size());
    const std::size_t end = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin), line.size());
    const std::size_t sign = std::min(line.find_first_not_of(' ', end), line.size());
    if (end == begin || sign == line.size() || line[sign] != '=') return {};
    const std::size_t value = std::min(line.find_first_not_of(' ', sign + 1), line.size());
    return fmt::format("{}: {}", line.substr(begin, end - begin), brief(line.substr(value)));
}

/// Where a non-breaking space stands as if it were an ordinary one, in the indentation or after a colon; else npos.
std::size_t odd_space(std::string_view line) {
    constexpr std::string_view space = "\u00A0";
    for (std::size_t at = line.find(space); at != std::string_view::npos; at = line.find(space, at + space.size()))
        if (line.substr(0, at).find_first_not_of(" -") == std::string_view::npos || line[at - 1] == ':') return at;
    return std::string_view::npos;
}

/// yaml-cpp's words in ours, with the remedy where YAML's own grammar is the trap. column: in bytes, from 0.
std::string translate(const std::string& words, std::string_view line, std::size_t column, std::string_view above) {
    const std::string_view before = line.substr(0, std::min(column, line.size()));
    const char here = column < line.size() ? line[column] : '\0';
    const auto says = [&](std::string_view what) { return words.find(what) != std::string::npos; };
    if (says("illegal map value")) {
        const std::size_t key = before.find(": ");
        if (key != std::string_view::npos || before.find_first_not_of("- ") == std::string_view::npos)
            return "a value with a bare ':' (before a space or the end of the line): quote it, as in select: \"0:10, "
                   ":\"";
        if (const std::string remedy = spaced(above); !remedy.empty())
            return fmt::format("the line above lacks a space after its colon: write {}", remedy);
        if (const std::string remedy = assigned(above); !remedy.empty())
            return fmt::format("the line above has '=' in place of a colon: write {}", remedy);
        return "a key is not possible here: the line above has a value already (check the indentation, or quote it)";
    }
    if (says("alias not found")) return "a bare '*' begins a YAML alias: quote it, as in \"*\"";
    if (says("anchor not found")) return "a bare '&' begins a YAML anchor: quote it, as in \"&\"";
    if (says("referenced anchor"))
        return "an alias of an anchor that is not defined before it (text that begins with '*': quote it)";
    if (says("end of sequence flow") || says("end of map flow")) {
        for (const std::string_view one : {line, above})
            if (const std::string variable = variable_in(one); !variable.empty())
                return fmt::format("inside brackets YAML reads the braces of {} as its own: quote it, \"{}\"", variable,
                                   variable);
        return says("sequence") ? "a '[' has no ']' before here, or a ',' is missing"
                                : "a '{' has no '}' before here, or a ',' is missing";
    }
    if (const std::string remedy = spaced(line); says("illegal flow end") && !remedy.empty())
        return fmt::format("a space is missing after the colon: write {}", remedy);
    if (says("illegal flow end"))
        return fmt::format("a '{}' without its opening bracket, or within one that is not closed", here);
    if (says("illegal EOF in scalar")) return "a quote that is never closed";
    if (says("illegal document indicator in scalar"))
        return "a quote that is never closed (a line that begins with '---' or '...' ends the document)";
    if (says("scanning alias") || says("scanning anchor"))
        return "a bare '*' or '&' begins a YAML alias or anchor, whose name has no brackets: quote it";
    if (says("unknown escape character") || says("scanning hex number") || says("invalid unicode"))
        return "a backslash in double quotes begins an escape, and this is none: use single quotes";
    if (says("directive") || says("YAML version")) return "a line that begins with '%' is a YAML directive: quote it";
    if (says("zero indentation") || says("in block scalar"))
        return "'|' or '>' begins a block of text: quote the value, as in \"|\"";
    if (says("unknown token")) return fmt::format("no value can begin with '{}': quote it", here);
    if (says("end of map not found") || says("end of sequence not found"))
        return "this line does not fit its neighbours: check the indentation";
    if (says("illegal block entry")) return "a list item '- ' is not possible here: check the indentation";
    if (says("illegal map key")) return "a key is not possible here: check the indentation";
    if (says("verbatim tag") || says("tag handle")) return "a bare '!' begins a YAML tag: quote it, as in \"!\"";
    if (says("can't have any content") || says("multiple aliases"))
        return "an alias ('*') stands alone: nothing beside it on the same value";
    if (says("multiple anchors") || says("multiple tags")) return "two anchors or tags on one value";
    return "not YAML: " + words;
}

/// Turns parser events into a Node tree.
class Builder : public YAML::EventHandler {
  public:
    Builder(std::string_view text, const std::string& source, bool fragment, Diagnostics& diagnostics)
        : text_(text),
          lines_(split_lines(text)),
          source_(std::make_shared<const std::string>(source)),
          fragment_(fragment),
          diagnostics_(diagnostics) {}

    Node& root() { return root_; }
    bool started() const { return documents_ > 0; }
    const std::vector<std::string_view>& lines() const { return lines_; }

    Mark place(const YAML::Mark& mark) const {
        if (fragment_) return {*source_, 0, 0};
        const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
        auto column = static_cast<std::ptrdiff_t>(std::max(mark.column, 0));
        if (line < lines_.size() && lines_[line].size() <= longest_measured) {
            const std::string_view before = lines_[line].substr(0, static_cast<std::size_t>(column));
            column -= std::count_if(before.begin(), before.end(), continues);
        }
        return {*source_, static_cast<int>(line) + 1, static_cast<int>(column) + 1};
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ == 0) return;
        const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
        const bool marked = line < lines_.size() && lines_[line].substr(0, 3) == "---";
        stop(mark, marked ? "a second document: a job file is one document, without a second '---'"
                          : "text after the end of the document");
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Node node = make(Node::Kind::null, mark);
        keep(node, anchor, mark);
        // The parser's mark of a value left out is that of whatever follows.
        attach(std::move(node), mark, true);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_tag(mark, tag);
        if (value.size() > largest_text) stop(mark, "a text of more than 1 MiB: large data belong in an HDF5 file");
        Node node = make(Node::Kind::scalar, mark);
        node.text = value;
        node.quoted = tag != "?" && !tag.empty();
        if (node.quoted) check_quotes(mark);
        if (!node.quoted) refuse_lookalikes(mark, value);
        if (value.find('\0') != std::string::npos || !is_utf8(value))
            stop(mark, "a text with a NUL or an escape that is no character");
        const bool is_key = !frames_.empty() && frames_.back().node.map() && !frames_.back().key;
        if (!node.quoted && !is_key && yes_or_no(value))
            diagnostics_.add(place(mark), fmt::format("'{}' is not a boolean here: write true or false (or quote it, "
                                                      "where it is a text)",
                                                      value));
        if (!node.quoted && !is_key && leading_zero(value))
            diagnostics_.add(place(mark), fmt::format("{} has a leading zero: write it without (or quote it, where it "
                                                      "is a text)",
                                                      brief(value)));
        keep(node, anchor, mark);
        attach(std::move(node), mark, false);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) stop(mark, "an alias inside of what it stands for");
        if (depth() + found->second.depth > deepest) too_deep(mark);
        if (!budget_.take(found->second.node)) too_many(mark);
        attach(found->second.node, mark, false);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        open(Node::Kind::list, mark, tag, anchor, style);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        open(Node::Kind::map, mark, tag, anchor, style);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

    void OnAnchor(const YAML::Mark&, const std::string&) override {}

    [[noreturn]] void stop(const YAML::Mark& mark, std::string message) {
        diagnostics_.add(place(mark), std::move(message));
        throw Stop{};
    }

  private:
    struct Key {
        std::string text;
        Mark mark;
    };
    struct Frame {
        Node node;
        YAML::Mark mark;
        YAML::anchor_t anchor = 0;
        bool block = false;
        int depth = 0;  // of what it holds, itself included
        std::optional<Key> key;
        bool drop = false;                          // the value of a key that was refused
        std::unordered_map<std::string, int> seen;  // key -> line
    };
    struct Anchored {
        Node node;
        int depth = 0;
    };

    int depth() const { return static_cast<int>(frames_.size()); }
    [[noreturn]] void too_deep(const YAML::Mark& mark) {
        stop(mark, fmt::format("lists and mappings more than {} deep", deepest));
    }
    [[noreturn]] void too_many(const YAML::Mark& mark) {
        stop(mark, fmt::format("more than {} values, or {} MiB of text, aliases written out: large data belong in an "
                               "HDF5 file",
                               most_values, most_bytes >> 20));
    }

    Node make(Node::Kind kind, const YAML::Mark& mark) const {
        const Mark where = place(mark);
        Node node;
        node.kind = kind;
        node.source = source_;
        node.line = where.line;
        node.column = where.column;
        return node;
    }

    void keep(const Node& node, YAML::anchor_t anchor, const YAML::Mark& mark) {
        if (!budget_.take(node)) too_many(mark);
        if (anchor == 0) return;
        if (!spare_.take(node)) too_many(mark);
        anchors_.insert_or_assign(anchor, Anchored{node, 0});
    }

    void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!")
            diagnostics_.add(place(mark),
                             "YAML tags ('!', '!!') are not taken: write the value alone (a text that "
                             "begins with '!': quote it)");
    }

    /// Quotes and lists that are none to YAML, which would be a part of the text.
    void refuse_lookalikes(const YAML::Mark& mark, const std::string& value) {
        for (const std::string_view quote : {"“", "”", "„", "‘", "’", "‚", "«", "»"})
            if (value.starts_with(quote))
                stop(mark,
                     fmt::format("{} is no quotation mark to YAML: write \" or ' (around a text that has it)", quote));
        const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
        if (!value.starts_with('(') || value.find(')') != std::string::npos || at >= text_.size() || text_[at] != '(')
            return;
        const std::size_t end = text_.find_first_not_of("0123456789+-., ", at + 1);  // a comma in brackets has cut it
        if (end == std::string_view::npos || text_[end] != ')') return;
        const std::string_view inner = text_.substr(at + 1, end - at - 1);
        stop(mark, fmt::format("a list is written [{}], not ({})", brief(inner), brief(inner)));
    }

    /// The parser takes a quote left open for closed at the end of the file.
    void check_quotes(const YAML::Mark& mark) {
        std::size_t at = mark.pos < 0 ? text_.size() : static_cast<std::size_t>(mark.pos);
        while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {  // anchor and tag stand before
            if (text_[at] == '!') refuse_tag(mark, "! alone");
            at = std::min(text_.find_first_of(" \n", at), text_.size());
            at = std::min(text_.find_first_not_of(" \n", at), text_.size());
        }
        if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;  // a block of text
        const char quote = text_[at];
        for (++at; at < text_.size(); ++at) {
            if (text_[at] == '\\' && quote == '"')
                ++at;
            else if (text_[at] == quote && (quote == '"' || at + 1 >= text_.size() || text_[at + 1] != quote))
                return;
            else if (text_[at] == quote)
                ++at;
        }
        stop(mark, "a quote that is never closed");
    }

    void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              YAML::EmitterStyle::value style) {
        refuse_tag(mark, tag);
        if (!frames_.empty() && frames_.back().node.map() && !frames_.back().key)
            stop(mark,
                 "a key is a word, not a list or a mapping (a bracket that is not closed? text that begins with '[', "
                 "'{' or '?': quote it)");
        Frame frame{make(kind, mark), mark, anchor, style != YAML::EmitterStyle::Flow, 1, {}, false, {}};
        if (!budget_.take(frame.node)) too_many(mark);
        frames_.push_back(std::move(frame));
        if (depth() > deepest) too_deep(mark);
    }

    void close() {
        Frame frame = std::move(frames_.back());
        frames_.pop_back();
        if (frame.anchor != 0) {
            if (!spare_.take(frame.node)) too_many(frame.mark);
            anchors_.insert_or_assign(frame.anchor, Anchored{frame.node, frame.depth});
        }
        if (!frames_.empty()) frames_.back().depth = std::max(frames_.back().depth, frame.depth + 1);
        attach(std::move(frame.node), frame.mark, frame.block);
    }

    /// Puts a finished value where it belongs. move_mark: point at the key instead.
    void attach(Node node, const YAML::Mark& mark, bool move_mark) {
        if (frames_.empty()) {
            root_ = std::move(node);
            return;
        }
        Frame& parent = frames_.back();
        if (parent.node.list()) {
            parent.node.items.push_back(std::move(node));
            return;
        }
        if (!parent.key) {
            take_key(parent, node, mark);
            return;
        }
        if (!parent.drop) {
            if (move_mark) {
                node.line = parent.key->mark.line;
                node.column = parent.key->mark.column;
            }
            parent.node.entries.push_back({std::move(parent.key->text), parent.key->mark, std::move(node)});
        }
        parent.key.reset();
        parent.drop = false;
    }

    void take_key(Frame& parent, Node& key, const YAML::Mark& mark) {
        if (!key.scalar()) {
            // Null: a bare ':', or the word null. The mark is that of what follows.
            stop(mark, "a key is missing here (a bare ':' as a value: quote it, as in select: \":\")");
        }
        const Mark where = place(mark);
        parent.key = Key{key.text, where};
        if (key.text == "<<" && !key.quoted) {
            diagnostics_.add(where, "merge keys ('<<') are not taken: use `defaults`, or a variable that is a mapping");
            parent.drop = true;
            parent.node.merged = true;
            return;
        }
        const auto [first, fresh] = parent.seen.emplace(key.text, where.line);
        if (!fresh) {
            const std::string there = where.line > 0 ? fmt::format(" (first on line {})", first->second) : "";
            diagnostics_.add(where, fmt::format("duplicate key {}{}", show(std::string_view(key.text)), there));
            parent.drop = true;
        }
    }

    std::string_view text_;
    std::vector<std::string_view> lines_;
    std::shared_ptr<const std::string> source_;
    bool fragment_;
    Diagnostics& diagnostics_;
    int documents_ = 0;
    Node root_;
    std::vector<Frame> frames_;
    std::map<YAML::anchor_t, Anchored> anchors_;
    Budget budget_, spare_;  // of the tree, and of what anchors keep
};

}  // namespace

const Node* Node::find(std::string_view key) const {
    for (const Entry& entry : entries)
        if (entry.key == key) return &entry.value;
    return nullptr;
}

Node* Node::find(std::string_view key) {
    return const_cast<Node*>(std::as_const(*this).find(key));
}

bool Budget::take(const Node& node) {
    if (values == 0 || bytes < node.text.size()) return false;
    --values;
    bytes -= node.text.size();
    for (const Node& item : node.items)
        if (!take(item)) return false;
    for (const Node::Entry& entry : node.entries) {
        if (bytes < entry.key.size()) return false;
        bytes -= entry.key.size();
        if (!take(entry.value)) return false;
    }
    return true;
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text, i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

std::optional<std::string> clean(const std::string& text, const std::string& source, Diagnostics& diagnostics) {
    const auto refuse = [&](int line, std::size_t column, std::string message) {
        diagnostics.add({source, line, static_cast<int>(std::min<std::size_t>(column, 1'000'000'000))},
                        std::move(message));
        return std::optional<std::string>();
    };
    if (text.size() > largest_file)
        return refuse(
            0, 0, fmt::format("a job file is at most {} MiB: large data belong in an HDF5 file", largest_file >> 20));
    std::string_view rest = text;
    if (rest.substr(0, 3) == "\xEF\xBB\xBF") rest.remove_prefix(3);
    if (rest.starts_with("\x89HDF\r\n\x1a\n"))
        return refuse(0, 0,
                      fmt::format("this is an HDF5 file, not a job file: `gridstride inspect {}` shows what is in it; "
                                  "a job file names it as an input, FILE:/DATASET",
                                  source));
    constexpr std::string_view utf16 = "the file is in UTF-16 or UTF-32: save it as UTF-8";
    if (rest.substr(0, 2) == "\xFF\xFE" || rest.substr(0, 2) == "\xFE\xFF") return refuse(1, 1, std::string(utf16));
    if (rest.size() >= 2 && (rest[0] == '\0') != (rest[1] == '\0')) return refuse(1, 1, std::string(utf16));

    std::string result;
    result.reserve(rest.size());
    int line = 1;
    std::size_t column = 1, brackets = 0;
    bool indentation = true;
    std::optional<std::size_t> tab;
    for (std::size_t i = 0; i < rest.size();) {
        const char c = rest[i];
        if (c == '\r' && i + 1 < rest.size() && rest[i + 1] == '\n') {
            ++i;
            continue;
        }
        if (c == '\0') return refuse(line, column, "a NUL byte: the file is not text, or not UTF-8");
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F)
            return refuse(line, column, fmt::format("a control character (0x{:02X})", byte));
        const std::size_t length = utf8_length(rest, i);
        if (length == 0)
            return refuse(line, column, fmt::format("byte 0x{:02X} is not UTF-8: save the file as UTF-8", byte));
        if ((c == '[' || c == '{') && ++brackets > most_brackets)
            return refuse(line, column, fmt::format("more than {} brackets", most_brackets));
        if (indentation && c == '\t' && !tab) tab = column;
        if (c != ' ' && c != '\t' && c != '\n') {
            if (indentation && tab && c != '#') return refuse(line, *tab, "a tab is used as indentation: use spaces");
            indentation = false;
        }
        result.append(rest.substr(i, length));
        i += length;
        ++column;
        if (c == '\n') {
            ++line;
            column = 1;
            indentation = true;
            tab.reset();
        }
    }
    if (!result.empty() && result.back() != '\n') result += '\n';  // else the parser takes open brackets for keys
    return result;
}

std::optional<Node> parse_tree(const std::string& text, const std::string& source, bool fragment,
                               Diagnostics& diagnostics) {
    Builder builder(text, source, fragment, diagnostics);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Stop&) {
        return {};
    } catch (const YAML::Exception& error) {
        const auto& lines = builder.lines();
        const auto at = static_cast<std::size_t>(std::max(error.mark.line, 0));
        const std::string_view line = at < lines.size() ? lines[at] : std::string_view();
        const std::string_view above = at > 0 && at - 1 < lines.size() ? lines[at - 1] : std::string_view();
        for (std::size_t back = 0; back < 2 && back <= at; ++back)
            if (const std::size_t odd = odd_space(back == 0 ? line : above); odd != std::string_view::npos) {
                YAML::Mark mark = error.mark;
                mark.line = static_cast<int>(at - back);
                mark.column = static_cast<int>(odd);
                diagnostics.add(builder.place(mark),
                                "a non-breaking space, which YAML takes for a letter: write an ordinary one");
                return {};
            }
        const auto column = static_cast<std::size_t>(std::max(error.mark.column, 0));
        Mark place = builder.place(error.mark);
        if (column > 0 && column < line.size() && line.substr(column - 1, 2) == "${") --place.column;
        diagnostics.add(place, translate(error.msg, line, column, above));
        return {};
    }
    if (!builder.started()) {
        diagnostics.add({source, fragment ? 0 : 1, fragment ? 0 : 1},
                        fragment ? "no value" : "the file is empty: a job file has at least `jobs:` with one job");
        return {};
    }
    return std::move(builder.root());
}

std::string put(Node& node, const std::vector<std::string>& path, std::size_t at, Node value, const Mark& mark) {
    if (!node.map()) {
        std::string there = path[0];
        for (std::size_t i = 1; i < at; ++i) there += "." + path[i];
        return fmt::format("{} is {}, no mapping: set it whole", there, show(node));
    }
    Node* child = node.find(path[at]);
    if (child == nullptr) {
        Node made;
        made.kind = Node::Kind::map;
        made.source = std::make_shared<const std::string>(mark.source);
        made.line = mark.line;
        made.column = mark.column;
        node.entries.push_back({path[at], mark, std::move(made)});
        child = &node.entries.back().value;
    }
    if (at + 1 < path.size()) return put(*child, path, at + 1, std::move(value), mark);
    *child = std::move(value);
    return {};
}

std::vector<std::string> split_path(std::string_view key) {
    std::vector<std::string> path;
    for (std::size_t begin = 0; begin <= key.size();) {
        const std::size_t end = std::min(key.find('.', begin), key.size());
        path.emplace_back(key.substr(begin, end - begin));
        begin = end + 1;
    }
    return path;
}

std::string brief(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    std::size_t cut = most;
    while (cut > 0 && continues(text[cut])) --cut;  // not within a character
    return std::string(text.substr(0, cut)) + "...";
}

std::string show(std::string_view text) {
    std::string result = brief(text);
    for (char& c : result)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    return "'" + result + "'";
}

std::string show(const Node& node, std::size_t most_text) {
    constexpr std::size_t most = 200;
    switch (node.kind) {
        case Node::Kind::null:
            return "null";
        case Node::Kind::scalar:
            return brief(node.text, most_text);
        case Node::Kind::list:
        case Node::Kind::map:
            break;
    }
    std::string inner;
    const auto add = [&](const std::string& one) {
        if (inner.size() > most) return false;
        if (!inner.empty()) inner += ", ";
        inner += one;
        if (inner.size() > most) inner += ", ...";
        return inner.size() <= most;
    };
    if (node.list()) {
        for (const Node& item : node.items)
            if (!add(show(item, most_text))) break;
        return "[" + inner + "]";
    }
    for (const Node::Entry& entry : node.entries)
        if (!add(brief(entry.key) + ": " + show(entry.value, most_text))) break;
    return "{" + inner + "}";
}

}  // namespace gridstride::config
