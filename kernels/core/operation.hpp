// SPDX-License-Identifier: BSD-3-Clause
// The tables: an operation and its variants are constants of plain structs of functions. The registry that CMake writes
// from the operations' folders lists them; everything else (the command, the conformance test, the documents) reads it.
#pragma once

#include <complex>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/error.hpp"
#include "core/params.hpp"
#include "core/tensor.hpp"

namespace gridstride {

/// Grid and block of a launch, x first; empty: the variant chooses.
struct Launch {
    Shape grid, block;
};

/// All that defines a computation, before a byte is read. in: one Spec an input of the operation, absent ones marked;
/// inputs have one common dtype, but for those whose row says own_dtype. out: as infer gave them.
struct Problem {
    Params params;
    std::vector<Spec> in, out;
    Launch launch;
    Place place;
};

/// One execution. Slabs follow Problem.in and Problem.out; they are contiguous, row-major and in the memory of the
/// problem's place. Where an output may overwrite an input (Output::alias) both may be the same bytes.
struct Call {
    std::span<const Slab> in, out;
    std::byte* workspace = nullptr;
    Stream stream;
};

/// Owns plans, handles and tables; serves one stream at a time. Errors (input): a result that does not convert to an
/// integer output, with its index; (device): a library or launch failed.
using Step = std::function<void(const Call&)>;

/// A launch as it is made, for --explain and the report.
struct Launched {
    Shape grid, block;  // x first, three each
    int blocks_per_multiprocessor = 0;
    double occupancy = 0;           // resident warps over the most there can be
    std::int64_t idle_threads = 0;  // launched beyond the work there is
};

struct Plan {
    Step step;
    std::size_t workspace = 0;         // bytes that Call::workspace must hold (64-byte aligned)
    std::size_t held = 0;              // bytes the step itself owns
    std::string words;                 // what was chosen, for --explain
    std::optional<Launched> launched;  // of a kernel of ours: its main launch
};

/// One output element by definition. re, im: its value in higher precision (where `exact` or the rule is `rounded`:
/// already rounded to the arithmetic type). magnitudes: the sums of finite_size of the terms behind the parts, |factor|
/// included.
struct Term {
    long double re = 0, im = 0;
    long double re_magnitude = 0, im_magnitude = 0;
    long double factor = 1;    // |alpha| or |coef|
    long double unscaled = 0;  // the larger sum of |terms| before the factor; 0: the magnitudes themselves
    bool exact = false;        // must match bit for bit (an untouched block)
    bool wrapped = false;      // an integer overflow, wrapped modulo 2^n
    bool overflowed = false;   // of finite operands, yet Inf once rounded to the arithmetic type
    bool lost = false;         // an addend of which rounding to the output leaves nothing
};

/// |x|; 0 where x is Inf or NaN: what a sum's finite terms may reach, and overflow by, beside such a one.
template <class T>
T finite_size(T x) {
    const T size = x < 0 ? -x : x;
    return size <= std::numeric_limits<T>::max() ? size : T(0);
}

/// The definition of output element `index` (flat, row-major). Holds what it needs of the inputs; safe to call from
/// several threads at once.
using Reference = std::function<Term(std::int64_t index)>;

struct Input {
    std::string_view name, doc;
    bool optional = false;
    bool own_dtype = false;  // read as float64 whatever the others are; no part in the result type (convcov's coef)
};

struct Output {
    std::string_view name, doc;
    int alias = -1;  // the input it may overwrite, or -1
};

/// What is known of an output axis, for its dimension scale.
struct AxisOrigin {
    std::string name;              // "row", "frequency"; empty: the kept axis's own name, else axis_<i>
    int input = -1, axis = -1;     // the input axis it keeps, or -1
    std::int64_t frequencies = 0;  // length n of the transform whose frequencies it holds; 0: none
    double spacing = 1;            // of its samples
    bool half = false;             // n/2 + 1 of them
};

/// A well-posed part of a problem. `adds`: the outputs of the parts along this axis are summed, in ascending order
/// (then its out is in the arithmetic type); otherwise each lands in its selection.
struct Piece {
    Problem problem;
    std::vector<Selection> in, out;  // parts of the whole inputs (ignored where absent) and outputs
    bool adds = false;
};

/// An axis a problem may be cut along.
struct Axis {
    std::string name;
    std::int64_t extent = 0;
};

struct Cost {
    double flops = 0, read = 0, written = 0;  // bytes: compulsory, each element once
};

/// How an operation's answers are judged (validation/bound.hpp has the formulas).
enum class Rule {
    rounded,      // equals the exact value, rounded as the dtype rules say
    accumulated,  // c u_acc g(n) sum|terms| + u_out |ref|, by parts
    transform,    // norm-wise, a transform at a time
};

/// What the norm-wise rule needs of a problem: which outputs form one transform, and its norm.
struct Transforms {
    std::int64_t count = 0;                                        // independent transforms
    std::int64_t length = 1;                                       // N: the product of the transformed lengths
    bool squared = false;                                          // outputs are |X|^2 (form: power)
    std::function<std::int64_t(std::int64_t index)> transform_of;  // of an output element
    std::function<std::vector<std::int64_t>(std::int64_t transform)> places;  // its outputs, ascending
    std::function<double(std::int64_t index)> weight;  // 2 where an output stands for two bins, else 1
    /// L2 norm over all bins of X (not of |X|^2), by Parseval from the values that enter; scaled against overflow.
    std::function<long double(std::int64_t transform)> norm;
    /// Sum of |x_n| over the values that enter, times the norm's factor: what an accumulator can reach.
    std::function<long double(std::int64_t transform)> magnitude;
    /// Are all values that enter finite?
    std::function<bool(std::int64_t transform)> finite;
    /// All outputs of one transform by FFTW in long double, in the order of places(); empty where N is too long.
    std::function<std::vector<std::complex<long double>>(std::int64_t transform)> all;
    std::string_view library;  // the variant that uses the library of `all`: it is not judged by that alone
};

struct Examined;  // core/properties.hpp
struct Property;

enum class Role : std::uint8_t {
    custom,  // ours
    vendor,  // a library
    faulty,  // a textbook mistake kept as a kernel; runs only when named, never timed
};

struct Variant {
    std::string_view name;
    Role role = Role::custom;
    Device device = Device::cpu;
    std::string_view doc;
    std::string (*refuses)(const Problem&) = nullptr;  // empty: can do; else why not, and what would be right
    Plan (*prepare)(const Problem&) = nullptr;         // never timed, reused over tiles
    std::size_t (*memory)(const Problem&) = nullptr;   // bytes of workspace and held, estimated without a device
    double (*growth)(const Problem&, std::int64_t n) = nullptr;  // g(n) of the error bound
    bool takes_launch = false;
};

struct Op {
    std::string_view name, doc;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::vector<Param> params;
    bool integers = false;  // takes int32 and int64; elsewhere integers in files become floats

    /// The output Specs. params are resolved; in as in Problem; result: the dtype asked for. Errors (config, where =
    /// "params.x" or "inputs.x"): a shape, dtype or parameter that does not fit, and what would.
    std::vector<Spec> (*infer)(const Params&, std::span<const Spec> in, std::optional<DType> result) = nullptr;
    Cost (*cost)(const Problem&) = nullptr;
    std::int64_t (*terms)(const Problem&) = nullptr;  // n: terms an output, at least 1
    Rule (*rule)(const Problem&) = nullptr;
    /// Variants in the order `auto` tries them, those of all devices.
    std::vector<std::string_view> (*prefer)(const Problem&) = nullptr;
    std::vector<Axis> (*axes)(const Problem&) = nullptr;  // what `cut` may cut along
    Piece (*cut)(const Problem&, std::size_t axis, std::int64_t begin, std::int64_t end) = nullptr;
    Reference (*reference)(const Problem&, std::span<const Slab> in) = nullptr;
    std::vector<Problem> (*cases)() = nullptr;  // what the conformance test asks; out left empty

    // Only where the operation has them, else null:
    std::unique_ptr<Transforms> (*transforms)(const Problem&, std::span<const Slab> in) = nullptr;  // Rule::transform
    /// What holds of every right answer and needs no reference, tested on this one.
    std::vector<Property> (*properties)(const Examined&) = nullptr;
    /// The same problem on channel-diagonal blocks alone, where tensors in the full layout hold others that do not take
    /// part; nothing where there are none. `selections` of a tensor: diagonal() below.
    std::optional<Problem> (*compact)(const Problem&) = nullptr;
    /// One origin an output axis (of output 0); null: nothing is known.
    std::vector<AxisOrigin> (*origins)(const Problem&) = nullptr;
    bool keeps_units = false;  // the output's unit is the inputs' common one
    /// A note for the user about what was asked (an axis of length 1, say); empty: none.
    std::string (*remark)(const Problem&) = nullptr;
    /// Asked of the inputs once they are read, in host memory, before anything is computed. Error (input): values that
    /// the parameters rule out (a gamma that is not symmetric, where they say it is), with the first place.
    void (*admit)(const Problem&, std::span<const Slab> in) = nullptr;
};

/// What the registry holds: an operation and its variants, CPU first, in the order of the add_operation line.
struct Entry {
    const Op* op;
    std::vector<const Variant*> variants;
};

/// All operations, in the order of their folders. Written by CMake.
const std::vector<Entry>& registry();
/// The entry of that name, or null.
const Entry* find(std::string_view op);
/// The variant of that name; device: where it must run, or any (CPU first). Null where there is none.
const Variant* find(const Entry& entry, std::string_view variant, std::optional<Device> device = {});

/// The type arithmetic is in: the widest of the inputs' common type, float32 (for float types) and the output's.
DType arithmetic(const Op& op, const Problem& problem);
/// result_type over the present inputs without own_dtype ones. Error (internal): none is present.
DType common_type(const Op& op, std::span<const Spec> in);

/// The output's type: the one asked for, else `natural`. Error (config, where = "result_dtype"): complex to real.
DType output_type(DType natural, std::optional<DType> asked);

/// Poses the problem: resolves params, infers out. Errors as resolve and infer.
Problem pose(const Op& op, Params given, std::vector<Spec> in, std::optional<DType> result = {}, Place place = {});

/// In the full layout (B, C, H, W, C, H, W), the selection of channel c's diagonal block, all b: (B, 1, H, W, 1, H, W).
Selection diagonal(const Shape& full, std::int64_t channel);

}  // namespace gridstride
