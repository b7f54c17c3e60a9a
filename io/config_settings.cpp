// SPDX-License-Identifier: BSD-3-Clause
// Job keys that mean the same for every operation: store, device, validate, tolerance, launch, variant.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "io/config_job.hpp"

namespace gridstride::config {

namespace {

constexpr int most_devices = 256;
constexpr std::int64_t most_threads = 65536;
constexpr std::int64_t most_blocks = 2147483647;  // CUDA's limit along x; the tighter ones are the device's to tell

}  // namespace

std::optional<Store> read_store(const Reader& reader, const Node& node) {
    if (node.scalar() && (node.text == "gzip" || node.text == "none")) {
        reader.wrong(node, "store", "a mapping of " + joined(names_of(store_keys)),
                     fmt::format(" (write {{compression: {}}})", node.text));
        return {};
    }
    if (!reader.mapping(node, "store", store_keys)) return {};
    Store store;
    bool sound = true;
    const auto set = [&](auto& target, auto value) {
        if (value)
            target = *value;
        else
            sound = false;
    };
    if (const Node* chunks = node.find("chunks")) set(store.chunks, reader.shape(*chunks, "chunks", 1));
    if (const Node* compression = node.find("compression")) {
        const auto word = reader.word(*compression, "compression", {"none", "gzip"});
        sound = sound && word;
        store.gzip = word == "gzip";
    }
    if (const Node* shuffle = node.find("shuffle")) set(store.shuffle, reader.boolean(*shuffle, "shuffle"));
    if (const Node* level = node.find("level")) {
        set(store.level, reader.integer(*level, "level", 0, 9));
        if (sound && !store.gzip) {
            reader.error(level->mark(), "level is of gzip: it needs `compression: gzip` beside it");
            sound = false;
        }
    }
    if (!sound) return {};
    return store;
}

std::optional<DeviceChoice> read_device(const Reader& reader, const Node& node) {
    constexpr std::string_view wanted = "auto, cpu, cuda or cuda:N";
    const std::string_view text = node.scalar() ? std::string_view(node.text) : std::string_view();
    if (text == "auto") return DeviceChoice{};
    if (text == "cpu") return DeviceChoice{false, Device::cpu, 0};
    if (text == "cuda") return DeviceChoice{false, Device::cuda, 0};
    if (text.substr(0, 5) == "cuda:") {
        const std::string_view number = text.substr(5);
        int index = -1;
        const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), index);
        const bool plain = !number.empty() && stop == number.data() + number.size() &&
                           number.find_first_not_of("0123456789") == std::string_view::npos &&
                           (number.size() == 1 || number[0] != '0');
        if (plain && error == std::errc() && index < most_devices) return DeviceChoice{false, Device::cuda, index};
        reader.wrong(node, "device", fmt::format("{}, N from 0 to {}", wanted, most_devices - 1));
        return {};
    }
    reader.wrong(node, "device", wanted, did_you_mean(text, {"auto", "cpu", "cuda", "cuda:0"}));
    return {};
}

std::optional<Validate> read_validate(const Reader& reader, const Node& node) {
    Validate validate;
    if (!node.map()) {
        const std::vector<std::string> words{"sample", "full", "none"};
        const bool known = node.scalar() && std::find(words.begin(), words.end(), node.text) != words.end();
        if (!known) {
            reader.wrong(node, "validate", "sample, full, none or {sample: PLACES, terms: BUDGET, seed: N}",
                         node.scalar() ? did_you_mean(node.text, words) : "");
            return {};
        }
        validate.mode = node.text == "full"   ? Validate::Mode::full
                        : node.text == "none" ? Validate::Mode::none
                                              : Validate::Mode::sample;
        return validate;
    }
    if (!reader.mapping(node, "validate", validate_keys)) return {};
    bool sound = true;
    if (const Node* sample = node.find("sample")) {
        const auto value = reader.integer(*sample, "sample", 1);
        sound = sound && value;
        validate.sample = value.value_or(1);
    }
    if (const Node* terms = node.find("terms")) {
        const auto value = reader.number(*terms, "terms", {true, 0, true});
        sound = sound && value;
        validate.terms = value.value_or(1);
    }
    if (const Node* seed = node.find("seed")) {
        const auto value = reader.unsigned_integer(*seed, "seed");
        sound = sound && value;
        validate.seed = value.value_or(0);
    }
    if (!sound) return {};
    return validate;
}

std::optional<Tolerance> read_tolerance(const Reader& reader, const Node& node) {
    Tolerance tolerance;
    if (node.scalar() && node.text == "bitwise") {
        tolerance.mode = Tolerance::Mode::bitwise;
        return tolerance;
    }
    if (!node.map()) {
        const std::string hint = node.scalar() && to_number(node.text)
                                     ? " (a number alone could be any of them)"
                                     : did_you_mean(node.scalar() ? node.text : "", {"bitwise"});
        reader.wrong(node, "tolerance", "{factor: 8}, {rtol: 1e-6, atol: 0} or bitwise", hint);
        return {};
    }
    if (!reader.mapping(node, "tolerance", tolerance_keys)) return {};
    const Node* factor = node.find("factor");
    const Node* rtol = node.find("rtol");
    const Node* atol = node.find("atol");
    if (factor != nullptr && (rtol != nullptr || atol != nullptr)) {
        reader.error(factor->mark(), "tolerance is either {factor} or {rtol, atol}, not both");
        return {};
    }
    if (factor == nullptr && rtol == nullptr && atol == nullptr) {
        reader.error(node.mark(), "tolerance is {factor: 8}, {rtol: 1e-6, atol: 0} or bitwise; this mapping has none");
        return {};
    }
    bool sound = true;
    const auto set = [&](double& target, const Node* from, std::string_view key, bool open) {
        if (from == nullptr) return;
        const auto value = reader.number(*from, key, {true, 0, open});
        sound = sound && value;
        target = value.value_or(0);
    };
    if (factor == nullptr) tolerance.mode = Tolerance::Mode::absolute_relative;
    set(tolerance.factor, factor, "factor", true);
    set(tolerance.rtol, rtol, "rtol", false);
    set(tolerance.atol, atol, "atol", false);
    if (!sound) return {};
    return tolerance;
}

std::optional<Expect> read_expect(const Reader& reader, const Node& node) {
    const auto word = reader.word(node, "expect", {"pass", "mismatch", "error", "skipped"});
    if (!word) return {};
    return *word == "pass"       ? Expect::pass
           : *word == "mismatch" ? Expect::mismatch
           : *word == "error"    ? Expect::error
                                 : Expect::skipped;
}

std::optional<double> read_timeout(const Reader& reader, const Node& node) {
    return reader.number(node, "timeout", {true, 0, true});
}

std::optional<LaunchSetting> read_launch(const Reader& reader, const Node& node) {
    if (!reader.mapping(node, "launch", launch_keys)) return {};
    LaunchSetting setting;
    bool sound = true;
    const auto extents = [&](Shape& target, std::string_view key) {
        const Node* from = node.find(key);
        if (from == nullptr) return;
        const auto shape = reader.shape(*from, key, 1);
        sound = sound && shape;
        if (!shape) return;
        if (shape->empty() || shape->size() > 3 || *std::max_element(shape->begin(), shape->end()) > most_blocks) {
            reader.wrong(*from, key, fmt::format("an integer or [x, y, z], each from 1 to {}", most_blocks));
            sound = false;
            return;
        }
        target = *shape;
    };
    extents(setting.launch.grid, "grid");
    extents(setting.launch.block, "block");
    if (const Node* threads = node.find("threads")) {
        const auto value = reader.integer(*threads, "threads", 1, most_threads);
        sound = sound && value;
        setting.threads = static_cast<int>(value.value_or(1));
    }
    if (!sound) return {};
    return setting;
}

std::optional<VariantSetting> read_variant(const Reader& reader, const Node& node) {
    VariantSetting setting;
    setting.listed = node.list();
    bool sound = true;
    const auto add = [&](const Node& one) {
        if (!one.scalar()) {
            reader.wrong(one, "variant", "a word or a list of words");
            sound = false;
            return;
        }
        if (std::find(setting.words.begin(), setting.words.end(), one.text) != setting.words.end()) {
            reader.error(one.mark(), fmt::format("variant {} is listed twice", show(std::string_view(one.text))));
            sound = false;
            return;
        }
        if (node.list() && (one.text == "all" || one.text == "auto")) {
            reader.error(one.mark(), fmt::format("'{}' stands alone, not in a list: variant: {}", one.text, one.text));
            sound = false;
            return;
        }
        setting.words.push_back(one.text);
        setting.marks.push_back(one.mark());
    };
    if (node.list())
        for (const Node& item : node.items) add(item);
    else
        add(node);
    if (node.list() && node.items.empty()) {
        reader.error(node.mark(), "variant is a word or a list of words; this list is empty");
        sound = false;
    }
    if (!sound) return {};
    setting.listed = setting.listed || setting.words[0] == "all";
    return setting;
}

}  // namespace gridstride::config
