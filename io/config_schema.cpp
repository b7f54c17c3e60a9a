// SPDX-License-Identifier: BSD-3-Clause
// A JSON Schema of job files, for editors that complete and check YAML. The loader is stricter; this never refuses what
// it takes.
#include <nlohmann/json.hpp>
#include <set>

#include "io/config_keys.hpp"
#include "io/config_tree.hpp"

namespace gridstride::config {

namespace {

using Json = nlohmann::ordered_json;

Json refer(const std::string& definition) {
    return {{"$ref", "#/$defs/" + definition}};
}

Json any_of(std::initializer_list<Json> choices) {
    return {{"anyOf", Json(std::vector<Json>(choices))}};
}

Json documented(Json schema, std::string_view doc, std::string_view otherwise = {}) {
    std::string text(doc);
    if (!otherwise.empty()) text += " (default: " + std::string(otherwise) + ")";
    schema["description"] = text;
    return schema;
}

template <class Words>
Json one_of(const Words& words) {
    Json list = Json::array();
    for (const auto& word : words) list.push_back(word);
    return {{"enum", list}};
}

Json dtype_words() {
    Json list = Json::array();
    for (const DType dtype : all_dtypes) list.push_back(name(dtype));
    return {{"enum", list}};
}

Json of_kind(const Param& param) {
    switch (param.kind) {
        case Kind::boolean:
            return any_of({{{"type", "boolean"}}, refer("variable")});
        case Kind::integer:
            return refer("integer");
        case Kind::integers:
            return refer("integers");
        case Kind::integers_or_word:
            return any_of({refer("integers"), one_of(param.words)});
        case Kind::numbers:
            return refer("numbers");
        case Kind::scalar:
            return any_of(
                {refer("number"), {{"type", "array"}, {"items", refer("number")}, {"minItems", 2}, {"maxItems", 2}}});
        case Kind::word:
            return any_of({one_of(param.words), refer("variable")});
    }
    return {};
}

/// The schema of a key of the common tables, by its name.
Json of_key(std::string_view key) {
    const auto is = [&](std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), key) != names.end();
    };
    if (is({"dtype", "result_dtype"})) return any_of({dtype_words(), refer("variable")});
    if (is({"chunks", "grid", "block", "shape"})) return refer("integers");
    if (is({"level", "threads", "sample", "seed", "rank", "pairs"})) return refer("integer");
    if (is({"terms", "factor", "rtol", "atol", "scale", "nan", "f0", "f1"})) return refer("number");
    if (key == "shuffle") return any_of({{{"type", "boolean"}}, refer("variable")});
    if (key == "compression") return any_of({one_of(std::vector<std::string>{"none", "gzip"}), refer("variable")});
    if (key == "complex") return any_of({one_of(std::vector<std::string>{"auto", "pair"}), refer("variable")});
    if (key == "select") return {{"type", Json::array({"string", "integer"})}};
    if (key == "from") return refer("source");
    if (key == "plus") return any_of({refer("plus"), {{"type", "array"}, {"items", refer("plus")}}, refer("variable")});
    if (key == "generate") {
        Json kinds = Json::array();
        for (const Key& kind : generate_kinds) kinds.push_back(kind.name);
        return any_of({{{"enum", kinds}}, refer("variable")});
    }
    return Json::object();
}

template <class... Tables>
Json mapping(const Tables&... tables) {
    Json properties = Json::object();
    const auto add = [&](const auto& table) {
        for (const Key& key : table)
            properties[std::string(key.name)] = documented(of_key(key.name), key.doc, key.otherwise);
    };
    (add(tables), ...);
    return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

Json variants_of(const std::set<std::string>& words) {
    Json list = Json::array({"auto", "all"});
    for (const std::string& word : words) list.push_back(word);
    return any_of(
        {{{"enum", list}}, {{"type", "array"}, {"items", {{"enum", list}}}, {"minItems", 1}}, refer("variable")});
}

std::set<std::string> words_of(const Entry& entry) {
    std::set<std::string> words;
    for (const Variant* row : entry.variants) words.emplace(row->name);
    return words;
}

/// What a job of this operation may say. swept: what it needs may stand in its sweep.
Json operation(const Entry& entry, bool swept) {
    const Op& op = *entry.op;
    Json inputs = Json::object(), required = Json::array(), params = Json::object(), needed = Json::array(),
         outputs = Json::object();
    for (const gridstride::Input& row : op.inputs) {
        inputs[std::string(row.name)] = documented(refer("input"), row.doc);
        if (!row.optional && !swept) required.push_back(row.name);
    }
    for (const Param& row : op.params) {
        if (row.hidden) continue;
        std::string otherwise;
        if (row.otherwise && !row.otherwise->empty()) otherwise = to_text(*row.otherwise);
        params[std::string(row.name)] = documented(of_kind(row), row.doc, otherwise);
        if (!row.otherwise && !swept) needed.push_back(row.name);
    }
    for (const Output& row : op.outputs) outputs[std::string(row.name)] = documented({{"type", "string"}}, row.doc);
    Json properties;
    properties["inputs"] =
        any_of({{{"type", "object"}, {"properties", inputs}, {"required", required}, {"additionalProperties", false}},
                refer("variable")});
    properties["params"] =
        any_of({{{"type", "object"}, {"properties", params}, {"required", needed}, {"additionalProperties", false}},
                refer("variable")});
    properties["outputs"] =
        any_of({{{"type", "string"}},
                {{"type", "object"}, {"properties", outputs}, {"additionalProperties", false}, {"minProperties", 1}}});
    properties["variant"] = variants_of(words_of(entry));
    Json then{{"properties", properties}};
    if (!swept) then["required"] = {"inputs"};
    Json sweep{{"required", {"sweep"}}};
    if (!swept) sweep = {{"not", sweep}};
    return {{"if", {{"allOf", {{{"properties", {{"op", {{"const", op.name}}}}}}, sweep}}}}, {"then", then}};
}

/// The keys that defaults and jobs share.
Json shared_properties() {
    std::set<std::string> words;
    for (const Entry& entry : registry()) words.merge(words_of(entry));
    Json properties;
    for (const Key& key : job_keys) {
        Json schema;
        if (of_one_job(key.name)) continue;
        if (key.name == "store")
            schema = any_of({mapping(store_keys), refer("variable")});
        else if (key.name == "launch")
            schema = any_of({mapping(launch_keys), refer("variable")});
        else if (key.name == "validate")
            schema = any_of({one_of(std::vector<std::string>{"sample", "full", "none"}), mapping(validate_keys),
                             refer("variable")});
        else if (key.name == "tolerance")
            schema = any_of({{{"const", "bitwise"}}, mapping(tolerance_keys), refer("variable")});
        else if (key.name == "device")
            schema = any_of({{{"type", "string"}, {"pattern", "^(auto|cpu|cuda(:[0-9]+)?)$"}}, refer("variable")});
        else if (key.name == "variant")
            schema = variants_of(words);
        else if (key.name == "expect")
            schema =
                any_of({one_of(std::vector<std::string>{"pass", "mismatch", "error", "skipped"}), refer("variable")});
        else if (key.name == "timeout")
            schema = refer("number");
        else
            schema = of_key(key.name);
        properties[std::string(key.name)] = documented(schema, key.doc, key.otherwise);
    }
    return properties;
}

}  // namespace

std::string schema() {
    Json definitions;
    definitions["variable"] = {{"type", "string"}, {"pattern", "\\$"}};
    // YAML 1.2 readers take 1_000 and 1e6 for a text and a float.
    definitions["integer"] = any_of({{{"type", "integer"}},
                                     {{"type", "number"}},
                                     {{"type", "string"}, {"pattern", "^[-+]?[0-9][0-9_]*$"}},
                                     refer("variable")});
    definitions["number"] = any_of({{{"type", "number"}},
                                    {{"type", "string"}, {"pattern", "^[-+]?[0-9_.]+([eE][-+]?[0-9]+)?$"}},
                                    refer("variable")});
    definitions["integers"] = any_of({refer("integer"), {{"type", "array"}, {"items", refer("integer")}}});
    definitions["numbers"] = any_of({refer("number"), {{"type", "array"}, {"items", refer("number")}}});
    definitions["source"] = any_of({refer("numbers"), {{"type", "string"}, {"pattern", ":/|\\$"}}});
    definitions["plus"] = mapping(plus_keys, generate_keys);
    Json input = mapping(input_keys, generate_keys);
    input["oneOf"] = Json::array({{{"required", {"from"}}}, {{"required", {"generate", "shape"}}}});
    definitions["input"] = any_of({refer("source"), input});

    const Json values = any_of({{{"type", "array"}, {"minItems", 1}},
                                {{"type", "string"}, {"pattern", "^(range|pow2|glob)\\(.*\\)$"}},
                                refer("variable"),
                                {{"type", "object"}, {"minProperties", 1}}});
    definitions["sweep"] = any_of({{{"type", "object"}, {"additionalProperties", values}, {"minProperties", 1}},
                                   {{"type", "array"},
                                    {"items", any_of({{{"type", "object"}, {"minProperties", 1}}, refer("variable")})},
                                    {"minItems", 1}},
                                   refer("variable")});

    Json job{{"type", "object"}};
    Json properties;
    Json ops = Json::array(), branches = Json::array();
    for (const Entry& entry : registry()) {
        ops.push_back(entry.op->name);
        for (const bool swept : {false, true}) branches.push_back(operation(entry, swept));
    }
    const Json shared = shared_properties();
    for (const Key& key : job_keys) {
        const std::string word(key.name);
        if (key.name == "op")
            properties[word] = documented({{"enum", ops}}, key.doc);
        else if (key.name == "sweep")
            properties[word] = documented(refer("sweep"), key.doc);
        else if (key.name == "against")
            properties[word] = documented(refer("input"), key.doc);
        else
            properties[word] =
                shared.contains(word) ? shared[word] : documented(Json::object(), key.doc, key.otherwise);
    }
    job["properties"] = properties;
    job["required"] = {"op"};
    job["additionalProperties"] = false;
    if (!branches.empty()) job["allOf"] = branches;
    definitions["job"] = job;

    Json top;
    for (const Key& key : top_keys) {
        Json one;
        if (key.name == "schema")
            one = {{"const", 1}};
        else if (key.name == "vars")
            one = {{"type", "object"}, {"propertyNames", {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}}}};
        else if (key.name == "defaults")
            one = {{"type", "object"}, {"properties", shared}, {"additionalProperties", false}};
        else
            one = {{"type", "object"},
                   {"propertyNames", {{"pattern", "^[A-Za-z0-9_-]+$"}}},
                   {"additionalProperties", refer("job")},
                   {"minProperties", 1}};
        top[std::string(key.name)] = documented(one, key.doc);
    }
    Json document;
    document["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    document["title"] = "gridstride job file";
    document["type"] = "object";
    document["properties"] = top;
    document["required"] = {"jobs"};
    document["additionalProperties"] = false;
    document["$defs"] = definitions;
    return document.dump(2);
}

}  // namespace gridstride::config
