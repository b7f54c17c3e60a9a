// SPDX-License-Identifier: BSD-3-Clause
// Posing problems: common, arithmetic and output types; the registry; the collapsed loop nest.
#include "core/operation.hpp"

#include <set>

#include "core/elementwise.hpp"
#include "support/run.hpp"

namespace gridstride::support {
namespace {

TEST(Registry, FindsOperationsAndVariantsByName) {
    const Entry* add = find("add");
    ASSERT_NE(add, nullptr);
    EXPECT_EQ(add->op->name, "add");
    EXPECT_EQ(find("subtract"), nullptr);
    EXPECT_EQ(find(*add, "loop")->device, Device::cpu);
    EXPECT_EQ(find(*add, "loop", Device::cuda), nullptr);
    EXPECT_EQ(find(*add, "no such"), nullptr);
}

TEST(Registry, RowsAreComplete) {
    std::set<std::string_view> names;
    for (const Entry& entry : registry()) {
        const Op& op = *entry.op;
        EXPECT_TRUE(names.insert(op.name).second) << op.name;
        EXPECT_FALSE(op.doc.empty());
        for (const Input& input : op.inputs) EXPECT_FALSE(input.doc.empty()) << op.name << " " << input.name;
        for (const Param& param : op.params) EXPECT_FALSE(param.doc.empty()) << op.name << " " << param.name;
        EXPECT_FALSE(entry.variants.empty()) << op.name;
        for (const Variant* row : entry.variants) {
            EXPECT_FALSE(row->doc.empty()) << op.name << " " << row->name;
            EXPECT_NE(row->refuses, nullptr) << op.name << " " << row->name;
        }
    }
}

TEST(ArithmeticType, IsTheWidestOfInputsAndOutputButNoHalf) {
    const Op& op = *find("add")->op;
    const auto type = [&](DType in, DType out) {
        return arithmetic(op,
                          {.params = {}, .in = {{in, {1}}, {in, {1}}}, .out = {{out, {1}}}, .launch = {}, .place = {}});
    };
    EXPECT_EQ(type(DType::float16, DType::float16), DType::float32);
    EXPECT_EQ(type(DType::bfloat16, DType::bfloat16), DType::float32);
    EXPECT_EQ(type(DType::float16, DType::float64), DType::float64);
    EXPECT_EQ(type(DType::float32, DType::float16), DType::float32);
    EXPECT_EQ(type(DType::float32, DType::complex64), DType::complex64);
    EXPECT_EQ(type(DType::int32, DType::int32), DType::int32);
    EXPECT_EQ(type(DType::int32, DType::int64), DType::int64);
    EXPECT_EQ(type(DType::int64, DType::float16), DType::float64);
    EXPECT_EQ(type(DType::float32, DType::int32), DType::float64);
}

TEST(OutputType, RefusesComplexToReal) {
    EXPECT_EQ(output_type(DType::float32, {}), DType::float32);
    EXPECT_EQ(output_type(DType::float32, DType::int64), DType::int64);
    EXPECT_EQ(output_type(DType::complex128, DType::complex64), DType::complex64);
    const std::optional<Error> error = error_of([] { output_type(DType::complex64, DType::float64); });
    EXPECT_EQ(error->category(), Category::config);
    EXPECT_EQ(error->where(), "result_dtype");
}

TEST(Diagonal, IsOneChannelsBlock) {
    const Selection block = diagonal({2, 3, 4, 5, 3, 4, 5}, 1);
    EXPECT_EQ(shape_of(block), (Shape{2, 1, 4, 5, 1, 4, 5}));
    EXPECT_EQ(block.axes[1].begin, 1);
    EXPECT_EQ(block.axes[4].begin, 1);
}

TEST(Collapse, JoinsAxesThatAllInputsStepThroughAlike) {
    const auto nest = [](const Shape& out, std::vector<Shape> in) {
        std::vector<Spec> specs;
        for (Shape& shape : in) specs.push_back({DType::float32, std::move(shape)});
        return elementwise::collapse(out, specs);
    };
    elementwise::Nest one = nest({2, 3, 4}, {{2, 3, 4}, {2, 3, 4}});
    EXPECT_EQ(one.extents, (Shape{24}));
    EXPECT_EQ(one.strides[1], (Shape{1}));
    one = nest({2, 3, 4}, {{2, 3, 4}, {4}});  // the first two axes repeat y
    EXPECT_EQ(one.extents, (Shape{6, 4}));
    EXPECT_EQ(one.strides[0], (Shape{4, 1}));
    EXPECT_EQ(one.strides[1], (Shape{0, 1}));
    one = nest({2, 3, 4}, {{2, 3, 4}, {2, 1, 1}});
    EXPECT_EQ(one.extents, (Shape{2, 12}));
    EXPECT_EQ(one.strides[1], (Shape{1, 0}));
    one = nest({2, 3, 4}, {{2, 1, 4}, {3, 1}});
    EXPECT_EQ(one.extents, (Shape{2, 3, 4}));
    EXPECT_EQ(one.strides[0], (Shape{4, 0, 1}));
    EXPECT_EQ(one.strides[1], (Shape{0, 1, 0}));
    one = nest({1, 5, 1}, {{1, 5, 1}, {1}});
    EXPECT_EQ(one.extents, (Shape{5}));
    EXPECT_EQ(one.strides[0], (Shape{1}));
    EXPECT_EQ(one.strides[1], (Shape{0}));
    EXPECT_EQ(nest({}, {{}, {}}).extents, (Shape{1}));
    EXPECT_EQ(nest({1, 1}, {{1, 1}, {}}).extents, (Shape{1}));
}

}  // namespace
}  // namespace gridstride::support
