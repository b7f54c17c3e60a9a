// SPDX-License-Identifier: BSD-3-Clause
// Tables: alignment by what a terminal shows, narrowing, wrapping, colour only where it is asked for.
#include "table.hpp"

#include <gtest/gtest.h>

namespace gridstride {

namespace {

TEST(Width, IsWhatATerminalShows) {
    EXPECT_EQ(width_of(""), 0U);
    EXPECT_EQ(width_of("abc"), 3U);
    EXPECT_EQ(width_of("größe"), 5U);       // two bytes, one column
    EXPECT_EQ(width_of("e\u0301tat"), 4U);  // a combining accent takes none
    EXPECT_EQ(width_of("共分散"), 6U);      // wide characters take two
    EXPECT_EQ(width_of("\xff"
                       "a\xc3"),
              3U);  // broken bytes count as one each
}

TEST(Shortened, EndsWithAnEllipsisAndFits) {
    EXPECT_EQ(shortened("convolution", 11), "convolution");
    EXPECT_EQ(shortened("convolution", 5), "conv…");
    EXPECT_EQ(shortened("共分散", 4), "共…");  // 5 columns would not fit into 4
    EXPECT_EQ(width_of(shortened("größenwahn", 4)), 4U);
    EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Shortened, InsideKeepsTheEndWhereNamesDiffer) {
    EXPECT_EQ(shortened_inside("product[tiled]", 14), "product[tiled]");
    EXPECT_EQ(shortened_inside("product[naive_1d]", 10), "pro…ve_1d]");
    EXPECT_EQ(shortened_inside("product[naive_2d]", 10), "pro…ve_2d]");
    EXPECT_EQ(shortened_inside("共分散[loop]", 8), "共…loop]");
    EXPECT_EQ(shortened_inside("共分散共分散", 7), "共…分散");  // 8 columns would not fit into 7
    for (std::size_t width = 0; width < 14; ++width)
        EXPECT_LE(width_of(shortened_inside("共x分y散[loop]", width)), width);
}

TEST(Printable, KeepsTextAndDropsWhatDrivesTheTerminal) {
    EXPECT_EQ(printable("größe 共"), "größe 共");
    EXPECT_EQ(printable("a\033[2Jb\n"), "a\uFFFD[2Jb\uFFFD");
    EXPECT_EQ(printable("\xff"), "\uFFFD");
    EXPECT_EQ(printable("a\u202Eb"), "a\uFFFDb");  // right-to-left override
}

TEST(Wrapped, BreaksBetweenWordsOnly) {
    EXPECT_EQ(wrapped("one two three", 0), (std::vector<std::string>{"one two three"}));
    EXPECT_EQ(wrapped("one two three", 8), (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(wrapped("a_word_too_long b", 6), (std::vector<std::string>{"a_word_too_long", "b"}));
}

TEST(Grouped, HasThreeDigitsAGroup) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(16777216), "16 777 216");
    EXPECT_EQ(grouped(-1000), "-1 000");
    EXPECT_EQ(grouped(-100), "-100");
}

TEST(Bytes, HaveThreeDigitsAndAUnit) {
    EXPECT_EQ(bytes_text(9999), "9999 B");
    EXPECT_EQ(bytes_text(102'400), "100 KiB");
    EXPECT_EQ(bytes_text(1'022'976), "999 KiB");
    EXPECT_EQ(bytes_text(1'044'000), "0.996 MiB");  // 1020 KiB
    EXPECT_EQ(bytes_text(std::uint64_t{3} << 40), "3 TiB");
}

TEST(Table, AlignsTextLeftAndNumbersRight) {
    Table table({{"case"}, {"kernel", Align::right}, {"verdict"}});
    table.row({"größe[loop]", "9.8 ms", "pass"});
    table.row({"x", "0.03 ms", "mismatch"});
    table.row({"y"});
    EXPECT_EQ(table.text({}),
              "case          kernel  verdict\n"
              "größe[loop]   9.8 ms  pass\n"
              "x            0.03 ms  mismatch\n"
              "y\n");
}

TEST(Table, WithoutNamesHasNoHeadingAndKeepsItsIndent) {
    Table table({{""}, {""}}, 2);
    table.row({"a", "left"});
    table.row({"long", "right"});
    EXPECT_EQ(table.text({}), "  a     left\n  long  right\n");
}

TEST(Table, ShortensTheWidestTextWhereTheTerminalIsNarrow) {
    Table table({{"case"}, {"note"}, {"time", Align::right}});
    table.row({"a_case_with_a_rather_long_name", "short note", "123456.7 ms"});
    EXPECT_EQ(table.text({40, false}),
              "case             note               time\n"
              "a_ca…_long_name  short note  123456.7 ms\n");
}

TEST(Table, NeverShortensNumbersAndWhatIsToPaste) {
    Table table({{"", Align::fixed}, {"", Align::right}});
    table.row({"file.h5:/a/rather/long/path", "123456"});
    EXPECT_EQ(table.text({10, false}), "file.h5:/a/rather/long/path  123456\n");
}

TEST(Table, LeavesOutSpareColumnsWhereTheTerminalIsNarrowAndSaysSo) {
    Table table({{"case"},
                 {"device", Align::left, 2},
                 {"kernel", Align::right},
                 {"copies", Align::right, 3},
                 {"x first", Align::right, 1}});
    table.row({"a_case", "cpu", "9.8 ms", "9.9 ms", "-"});
    EXPECT_EQ(table.text({39, false}),  // all of it
              "case    device  kernel  copies  x first\n"
              "a_case  cpu     9.8 ms  9.9 ms        -\n");
    EXPECT_EQ(table.text({38, false}),  // what says nothing first
              "case    device  kernel  copies\n"
              "a_case  cpu     9.8 ms  9.9 ms\n"
              "not shown in 38 columns: x first\n");
    EXPECT_EQ(table.text({20, false}),
              "case    kernel\n"
              "a_case  9.8 ms\n"
              "not shown in 20 columns: x first, copies, device\n");
}

TEST(Table, GivesItsHeadALineOfItsOwnWhereTheTerminalIsNarrow) {
    Table table({{"to paste", Align::head}, {"dtype"}, {"min", Align::right}, {"stored", Align::left, 1}});
    table.row({"file.h5:/group", "group"}, {"    @units = m"});
    table.row({"file.h5:/group/dataset", "float32", "-1.5", "672 B"}, {"    ! damaged"});
    EXPECT_EQ(table.text({45, false}),
              "to paste                dtype     min  stored\n"
              "file.h5:/group          group\n"
              "    @units = m\n"
              "file.h5:/group/dataset  float32  -1.5  672 B\n"
              "    ! damaged\n");
    EXPECT_EQ(table.text({30, false}),
              "to paste\n"
              "    dtype     min  stored\n"
              "file.h5:/group  group\n"
              "    @units = m\n"
              "file.h5:/group/dataset\n"
              "    float32  -1.5  672 B\n"
              "    ! damaged\n");
    EXPECT_EQ(table.text({20, false}),
              "to paste\n"
              "    dtype     min\n"
              "file.h5:/group  group\n"
              "    @units = m\n"
              "file.h5:/group/dataset\n"
              "    float32  -1.5\n"
              "    ! damaged\n"
              "not shown in 20 columns: stored\n");
}

TEST(Table, ContinuesProseUnderItself) {
    Table table({{"name", Align::fixed}, {"meaning", Align::prose}}, 2);
    table.row({"axes", "over which axes the sum runs, all by default"});
    EXPECT_EQ(table.text({38, false}),
              "  name  meaning\n"
              "  axes  over which axes the sum runs,\n"
              "        all by default\n");
}

TEST(Table, ColoursVerdictsOnlyWhereAsked) {
    Table table({{"verdict"}, {"case"}});
    table.row({"pass", "mismatch"});  // a case may be called so
    EXPECT_EQ(table.text({0, false}), "verdict  case\npass     mismatch\n");
    const std::string coloured = table.text({0, true});
    EXPECT_NE(coloured.find("\033[32mpass\033[0m     mismatch\n"), std::string::npos);
}

TEST(Terminal, OfAPipeHasNoLimitAndNoColour) {
    testing::internal::CaptureStdout();
    const Terminal out = terminal(1);
    testing::internal::GetCapturedStdout();
    EXPECT_EQ(out.width, 0U);
    EXPECT_FALSE(out.colour);
}

}  // namespace

TEST(Reasons, CasesWithOneReasonAreNamedTogether) {
    Reasons reasons;
    reasons.add("m[tiled]", "tiled", "tiled: not in this build");
    reasons.add("n", "loop", "a failed");
    reasons.add("m[cublas]", "cublas", "cublas: not in this build");
    reasons.add("m[naive_2d]", "naive_2d", "naive_2d: not in this build");
    EXPECT_EQ(reasons.lines(),
              (std::vector<std::string>{"m[tiled], m[cublas] and m[naive_2d]: not in this build", "n: a failed"}));
}

}  // namespace gridstride
