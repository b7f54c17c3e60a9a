// SPDX-License-Identifier: BSD-3-Clause
// convcov's factored on CUDA at sizes for which it goes other ways than for the operation's small cases: S in a kernel
// of its own, R along diagonals, groups of channels apart, S of some batches or output rows at a time; each in every
// mode, whole and in pieces, bit for bit the same each time; and few channels in one walk, which has the bits of the
// other kernels. Where GRIDSTRIDE_GPU_ELEMENTS limits the cases (sanitize.sh), the large sizes are left out. Skips
// aloud where there is no device.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compute.hpp"
#include "conformance/suite.hpp"

namespace gridstride::conformance {

namespace {

using validation::Verdict;

struct Size {
    const char* what;
    Shape map;  // (B, C, H, W)
    std::int64_t channels;
    gridstride::Values kernel, stride, dilation, padding;
};

struct Mode {
    const char *padding_mode, *symmetric, *noise;
    bool bias;
    std::int64_t vectors;
};

bool is_large(const Size& size) {
    return size.map[0] > 100 || size.map[2] > 30;
}

std::vector<Size> sizes() {
    const auto list = [](auto... values) { return gridstride::Values{Value(std::int64_t{values})...}; };
    std::vector<Size> all{
        {"along diagonals", {2, 20, 12, 13}, 5, list(3, 3), list(1, 1), list(1, 1), list(0, 0)},
        {"along diagonals, padded, vectors of places",
         {2, 17, 12, 12},
         3,
         list(2, 3),
         list(1, 1),
         list(1, 1),
         list(2, 3)},
        {"by taps", {2, 20, 12, 11}, 19, list(4, 5), list(1, 1), list(2, 1), list(3, 2)},
        {"rows apart by the stride", {3, 18, 19, 16}, 4, list(3, 3), list(2, 1), list(1, 1), list(1, 1)},
        {"both strides", {3, 18, 21, 23}, 4, list(3, 2), list(2, 3), list(1, 2), list(2, 5)},
        {"groups of channels", {2, 70, 10, 10}, 2, list(3, 3), list(1, 1), list(1, 1), list(0, 0)},
        {"a large batch", {1501, 5, 8, 8}, 2, list(3, 3), list(1, 1), list(1, 1), list(0, 0)},
        {"some batches at a time", {5, 4, 34, 34}, 1, list(3, 3), list(1, 1), list(1, 1), list(0, 0)},
        {"some output rows at a time", {1, 1, 53, 51}, 1, list(3, 3), list(1, 1), list(1, 1), list(1, 1)},
        {"some output rows at a time, strides", {1, 1, 71, 51}, 1, list(3, 2), list(2, 2), list(2, 1), list(1, 1)},
    };
    if (std::getenv("GRIDSTRIDE_GPU_ELEMENTS") != nullptr) std::erase_if(all, is_large);
    return all;
}

constexpr Mode modes[] = {
    {"zeros", "none", "programming", false, 0},   {"circular", "none", "programming", false, 0},
    {"zeros", "assume", "programming", false, 0}, {"circular", "assume", "programming", false, 2},
    {"zeros", "none", "read", true, 0},           {"circular", "assume", "read", false, 3},
    {"zeros", "none", "programming", true, 3},
};

/// Of the mode's number: the dtype, the form, the layout of gamma, whether there is an accumulate.
Problem asked(const Size& size, const Mode& mode, std::size_t number) {
    constexpr DType dtypes[] = {DType::float32, DType::float16, DType::float64, DType::bfloat16};
    const DType dtype = dtypes[number % 4];
    Problem problem;
    Params& params = problem.params;
    params.set("kernel", size.kernel);
    params.set("stride", size.stride);
    params.set("dilation", size.dilation);
    params.set("padding", size.padding);
    params.set("padding_mode", std::string(mode.padding_mode));
    params.set("symmetric", std::string(mode.symmetric));
    params.set("noise", std::string(mode.noise));
    params.set("bias", mode.bias);
    params.set("form", std::string(number % 5 == 0 && !is_large(size) ? "full" : "channel_diagonal"));
    const std::int64_t b = size.map[0], c = size.map[1], h = size.map[2], w = size.map[3];
    problem.in.assign(5, Spec{DType::float32, {}, false});
    if (number % 11 != 10) problem.in[0] = {dtype, {b, c, h, w, h, w}};
    problem.in[1] = {dtype, size.map};
    problem.in[2] = {DType::float64, mode.vectors > 0 ? Shape{mode.vectors, size.channels} : Shape{size.channels}};
    if (number / 4 % 2 == 1)
        problem.in[3] = {dtype, pose(*support::entry("convcov").op, params, problem.in).out[0].shape};
    return problem;
}

/// Every size in every mode; of the large ones in those that take neither S whole nor several results.
std::vector<std::pair<std::string, Problem>> problems() {
    std::vector<std::pair<std::string, Problem>> result;
    std::size_t number = 0;
    for (const Size& size : sizes())
        for (const Mode& mode : modes) {
            if (is_large(size) && (mode.vectors > 0 || mode.padding_mode == std::string("circular"))) continue;
            Problem problem = asked(size, mode, number++);
            std::string text = std::string(size.what) + ": " + describe(number, problem);
            result.emplace_back(std::move(text), std::move(problem));
        }
    return result;
}

/// A problem of so few channels and so many batches that one kernel walks over it.
struct Walk {
    const char* what;
    DType dtype;
    Shape map;  // (B, C, H, W)
    std::int64_t channels, vectors;
    gridstride::Values padding;  // top, bottom, left, right
    const char* form;
    bool adds, bias;
};

/// 8 to 32 output rows, of which a block has a part; each width and number of channels that there is a kernel for.
std::vector<Walk> walks() {
    if (std::getenv("GRIDSTRIDE_GPU_ELEMENTS") != nullptr) return {};
    const auto list = [](auto... values) { return gridstride::Values{Value(std::int64_t{values})...}; };
    constexpr DType single = DType::float32, half = DType::float16, brain = DType::bfloat16;
    const char *const diagonal = "channel_diagonal", *const full = "full", *const factor = "factor";
    return {
        {"34 columns", single, {26, 3, 10, 34}, 3, 0, list(0, 0, 0, 0), diagonal, true, false},
        {"34 columns, fresh", single, {20, 3, 11, 34}, 2, 0, list(0, 0, 0, 0), diagonal, false, true},
        {"32 columns, full", single, {26, 3, 7, 32}, 2, 0, list(1, 2, 1, 1), full, true, true},
        {"30 columns, coefficient vectors", single, {26, 2, 8, 30}, 1, 3, list(2, 0, 3, 1), diagonal, true, false},
        {"28 columns, one channel", single, {21, 1, 9, 28}, 1, 0, list(0, 3, 0, 2), diagonal, true, true},
        {"34 columns, full, fresh", single, {21, 1, 12, 34}, 2, 0, list(0, 0, 0, 0), full, false, false},
        {"32 columns, R alone", single, {26, 3, 9, 32}, 1, 0, list(1, 0, 0, 2), factor, false, false},
        {"many rows", single, {5, 1, 31, 34}, 1, 0, list(3, 0, 0, 0), diagonal, true, false},
        {"halves, 34 columns", half, {26, 3, 9, 34}, 3, 0, list(1, 0, 0, 0), diagonal, true, false},
        {"halves, 28 columns, full", half, {20, 1, 10, 28}, 2, 0, list(1, 0, 2, 4), full, true, true},
        {"halves, 32 columns, two channels", half, {26, 2, 6, 32}, 2, 0, list(2, 2, 1, 1), diagonal, false, false},
        {"halves, many rows", half, {4, 3, 34, 34}, 1, 0, list(0, 0, 0, 0), diagonal, true, false},
        {"bfloat16, 34 columns", brain, {26, 3, 10, 34}, 3, 0, list(0, 0, 0, 0), diagonal, true, true},
        {"bfloat16, 30 columns, vectors", brain, {20, 1, 10, 30}, 1, 2, list(0, 1, 2, 2), diagonal, true, false},
    };
}

Problem asked(const Walk& walk) {
    Problem problem;
    Params& params = problem.params;
    const bool factor = walk.form == std::string("factor");
    params.set("kernel", std::int64_t{3});
    params.set("padding", walk.padding);
    params.set("form", std::string(walk.form));
    if (walk.bias) params.set("bias", true);
    const std::int64_t b = walk.map[0], c = walk.map[1], h = walk.map[2], w = walk.map[3];
    const bool full = walk.form == std::string("full");
    problem.in.assign(5, Spec{DType::float32, {}, false});
    problem.in[0] = {walk.dtype, full ? Shape{b, c, h, w, c, h, w} : Shape{b, c, h, w, h, w}};
    problem.in[1] = {walk.dtype, walk.map};
    if (!factor)
        problem.in[2] = {DType::float64, walk.vectors > 0 ? Shape{walk.vectors, walk.channels} : Shape{walk.channels}};
    if (walk.adds) problem.in[3] = {walk.dtype, pose(*support::entry("convcov").op, params, problem.in).out[0].shape};
    return problem;
}

/// The second coefficient 0, where there is one; zeros of either sign at the beginning of gamma, mu and accumulate.
void plant_zeros(const Posed& posed) {
    const std::vector<Slab>& in = posed.slabs;
    if (in[2].spec.present && in[2].spec.size() > 1) in[2].as<double>()[1] = 0;
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        if (!in[which].spec.present) continue;
        with_type<float, float16, bfloat16>(in[which].spec.dtype, [&]<class T>() {
            T* const values = in[which].as<T>();
            const std::int64_t count = in[which].spec.size() / posed.problem.in[1].shape[0];
            for (std::int64_t k = 0; k < count; ++k) values[k] = T(k % 7 == 3 ? 0.0F : -0.0F);
        });
    }
}

/// The inputs of a piece.
std::vector<Tensor> parts(const Posed& whole, const Piece& piece) {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < whole.slabs.size(); ++i)
        tensors.push_back(whole.slabs[i].spec.present ? clone(part(whole.slabs[i], piece.in[i])) : Tensor());
    return tensors;
}

class GpuConvcov : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string why;
        const auto devices = cuda::devices(&why);
        if (devices.empty()) GTEST_SKIP() << "no CUDA device: " << why;
        place = {Device::cuda, 0, 0, devices[0].limits};
    }
    Posed posed(const Problem& problem) const {
        Posed one = pose_case(op, problem, Values::mixed);
        one.problem.place = place;
        return one;
    }
    Tensor computed(const Problem& problem, std::span<const Slab> in) const {
        return engine::compute(op, factored, problem, in, false).out;
    }
    /// The step alone, in place or not where there is an accumulate; gamma, mu, accumulate and the output begin so many
    /// elements behind an aligned address.
    Tensor stepped(const Problem& problem, std::span<const Slab> in, bool in_place, std::size_t shift) const {
        cuda::Queue queue(0);
        const Plan plan = engine::prepare(factored, problem);
        const Tensor workspace = engine::buffer(plan.workspace, Memory::device);
        const std::size_t bytes = problem.out[0].bytes(), behind = shift * size_of(problem.out[0].dtype);
        const Tensor out = engine::buffer(bytes + behind, Memory::device);
        const Slab out_slab{problem.out[0], row_major_strides(problem.out[0].shape), out.data() + behind};
        queue.fill(out_slab.data, 0xFF, bytes);
        std::vector<Tensor> inputs;
        std::vector<Slab> handed(in.begin(), in.end());
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (!in[i].spec.present) continue;
            inputs.push_back(engine::buffer(in[i].spec.bytes() + behind, Memory::device));
            const bool aliased = in_place && i == 3;
            handed[i].data = aliased ? out_slab.data : inputs.back().data() + (i == 2 ? 0 : behind);
            queue.copy(in[i].data, handed[i].data, in[i].spec.bytes(), cuda::Direction::to_device);
        }
        plan.step({handed, {&out_slab, 1}, workspace.data(), queue.stream()});
        Tensor result(problem.out[0]);
        queue.copy(out_slab.data, result.data(), bytes, cuda::Direction::to_host);
        queue.synchronize();
        return result;
    }
    bool walked(const Problem& problem) const {
        return engine::prepare(factored, problem).words.find("one walk") != std::string::npos;
    }
    void expect_right(const Problem& problem, std::span<const Slab> in, const Tensor& got) const {
        const auto judged =
            validation::judge(op, factored, problem, in, got.slab(), {.mode = Validate::Mode::full}, {}, nullptr, 0);
        EXPECT_EQ(judged.verdict, Verdict::pass) << judged.reason;
    }

    const Op& op = *support::entry("convcov").op;
    const Variant& factored = *find(support::entry("convcov"), "factored", Device::cuda);
    Place place;
};

}  // namespace

TEST_F(GpuConvcov, FactoredIsRightAndRepeatsItsBitsAtEverySizeInEveryMode) {
    for (const auto& [text, problem] : problems()) {
        SCOPED_TRACE(text);
        const Posed one = posed(problem);
        ASSERT_EQ(refusal(factored, one.problem), "");
        const Tensor got = computed(one.problem, one.slabs);
        expect_right(one.problem, one.slabs, got);
        EXPECT_EQ(support::bits(computed(one.problem, one.slabs)), support::bits(got));
    }
}

TEST_F(GpuConvcov, FactoredHasTheSameBitsInPlaceFreshAndAtEveryAlignment) {
    for (const auto& [text, problem] : problems()) {
        SCOPED_TRACE(text);
        const Posed one = posed(problem);
        const std::string bits = support::bits(stepped(one.problem, one.slabs, false, 0));
        const bool adds = problem.in[3].present;
        for (const std::size_t shift : {0, 1, 2, 3}) {
            EXPECT_TRUE(support::bits(stepped(one.problem, one.slabs, adds, shift)) == bits) << shift << " behind";
        }
    }
}

TEST_F(GpuConvcov, FactoredIsRightOfOutputRowsAndBatchesAlone) {
    for (const auto& [text, problem] : problems()) {
        SCOPED_TRACE(text);
        const Posed whole = posed(problem);
        for (const std::size_t axis : {std::size_t{0}, std::size_t{2}}) {
            const std::int64_t extent = op.axes(whole.problem)[axis].extent;
            const Piece piece = op.cut(whole.problem, axis, extent / 2, std::max(extent / 2 + 1, extent - 1));
            const std::vector<Tensor> tensors = parts(whole, piece);
            const std::vector<Slab> in = support::slabs(piece.problem.in, tensors);
            expect_right(piece.problem, in, computed(piece.problem, in));
        }
    }
}

TEST_F(GpuConvcov, FactoredOfASymmetricGammaIsSymmetricAndReadsEitherHalfAlike) {
    for (const Size& size : sizes()) {
        SCOPED_TRACE(size.what);
        Problem problem = asked(size, modes[0], 1);  // float16, fresh, channel-diagonal
        const Posed one = posed(problem);
        const std::int64_t places = size.map[2] * size.map[3];
        auto* const gammas = one.slabs[0].as<float16>();
        for (std::int64_t block = 0; block < size.map[0] * size.map[1]; ++block)
            for (std::int64_t x = 0; x < places; ++x)
                for (std::int64_t y = 0; y < x; ++y)
                    gammas[(block * places + x) * places + y] = gammas[(block * places + y) * places + x];
        const Tensor got = computed(one.problem, one.slabs);
        const Shape& shape = got.spec().shape;
        const std::int64_t side = shape[4] * shape[5], blocks = shape[0] * shape[1];
        const auto* values = reinterpret_cast<const std::uint16_t*>(got.data());
        std::int64_t unlike = 0;
        for (std::int64_t block = 0; block < blocks; ++block)
            for (std::int64_t p = 0; p < side; ++p)
                for (std::int64_t q = 0; q < p; ++q)
                    unlike += values[(block * side + p) * side + q] != values[(block * side + q) * side + p] ? 1 : 0;
        EXPECT_EQ(unlike, 0);
        Problem half = one.problem;
        half.params.set("symmetric", std::string("assume"));
        EXPECT_EQ(support::bits(computed(half, one.slabs)), support::bits(got));
    }
}

TEST_F(GpuConvcov, AWalkIsRightAndHasTheBitsOfTheOtherKernelsInPlaceAndFresh) {
    for (const Walk& walk : walks()) {
        SCOPED_TRACE(walk.what);
        const Posed one = posed(asked(walk));
        plant_zeros(one);
        ASSERT_EQ(refusal(factored, one.problem), "");
        ASSERT_TRUE(walked(one.problem));
        const Tensor got = stepped(one.problem, one.slabs, false, 0);
        expect_right(one.problem, one.slabs, got);
        const std::string bits = support::bits(got);
        EXPECT_TRUE(support::bits(stepped(one.problem, one.slabs, false, 0)) == bits) << "again";
        EXPECT_TRUE(support::bits(stepped(one.problem, one.slabs, false, 1)) == bits) << "by the other kernels";
        if (!walk.adds) continue;
        EXPECT_TRUE(support::bits(stepped(one.problem, one.slabs, true, 0)) == bits) << "in place";
        EXPECT_TRUE(support::bits(stepped(one.problem, one.slabs, true, 1)) == bits) << "in place, by the others";
    }
}

TEST_F(GpuConvcov, AWalkHasTheBitsOfEachBatchAndOfOutputRowsAlone) {
    const std::vector<Walk> all = walks();
    bool rows_walked = all.empty();
    for (const Walk& walk : all) {
        SCOPED_TRACE(walk.what);
        const Posed whole = posed(asked(walk));
        const Tensor got = stepped(whole.problem, whole.slabs, walk.adds, 0);
        const std::int64_t last = walk.map[0] - 1, rows = op.axes(whole.problem)[2].extent;
        for (const Piece& piece : {op.cut(whole.problem, 0, last, last + 1), op.cut(whole.problem, 2, 1, rows - 1)}) {
            const std::vector<Tensor> tensors = parts(whole, piece);
            const std::vector<Slab> in = support::slabs(piece.problem.in, tensors);
            const bool a_batch = piece.problem.in[1].shape[0] == 1;
            EXPECT_FALSE(a_batch && walked(piece.problem));  // too few blocks
            rows_walked = rows_walked || walked(piece.problem);
            EXPECT_TRUE(support::bits(stepped(piece.problem, in, walk.adds, 0)) ==
                        support::bits(clone(part(got.slab(), piece.out[0]))))
                << (a_batch ? "a batch" : "rows");
        }
    }
    EXPECT_TRUE(rows_walked);
}

TEST_F(GpuConvcov, FactoredRefusesAVarianceEachWeightAndSaysWhoTakesIt) {
    Problem problem;
    problem.params.set("kernel", std::int64_t{3});
    problem.in = {{DType::float32, {}, false},
                  {DType::float32, {2, 3, 7, 5}},
                  {DType::float32, {}, false},
                  {DType::float32, {}, false},
                  {DType::float32, {4, 3, 3, 3}}};
    EXPECT_NE(refusal(factored, posed(problem).problem).find("thread_per_output"), std::string::npos);
}

}  // namespace gridstride::conformance
