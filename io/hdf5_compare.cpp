// SPDX-License-Identifier: BSD-3-Clause
// Comparing datasets: numbers as they are stored, widened to long double, which holds every type of them exactly.
#include "io/hdf5_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "io/hdf5_dataset.hpp"
#include "io/hdf5_types.hpp"

namespace gridstride::hdf5 {

namespace {

using Kind = FileType::Kind;

constexpr std::size_t worst_kept = 5;
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_number(const Info& info) {
    return info.type.kind != Kind::unsupported;
}

/// Byte order and the names of complex parts aside.
bool same_numbers(const FileType& a, const FileType& b) {
    return a.kind == b.kind && a.bits == b.bits && a.is_signed == b.is_signed && a.brain == b.brain;
}

/// Bytes of a stored part, as memory_type() has it.
std::size_t part_size(const FileType& type) {
    return with_stored_type(type, []<class T>() { return sizeof(T); });
}

long double widened(const FileType& type, const std::byte* stored) {
    return with_stored_type(type, [&]<class T>() {
        T value;
        std::memcpy(&value, stored, sizeof value);
        return static_cast<long double>(value);
    });
}

std::string part_text(const FileType& type, const std::byte* stored) {
    return with_stored_type(type, [&]<class T>() {
        T value;
        std::memcpy(&value, stored, sizeof value);
        if constexpr (std::is_integral_v<T>)
            return fmt::format("{}", static_cast<long long>(value));
        else if constexpr (sizeof(T) == 2)
            return fmt::format("{}", static_cast<float>(value));
        else
            return fmt::format("{}", value);
    });
}

std::string value_text(const FileType& type, const std::byte* stored) {
    if (type.kind == Kind::integer && type.bits == 64 && !type.is_signed) {  // the one type that long long has not
        std::uint64_t value;
        std::memcpy(&value, stored, sizeof value);
        return fmt::format("{}", value);
    }
    const std::string re = part_text(type, stored);
    if (type.kind != Kind::complex) return re;
    const std::string im = part_text(type, stored + part_size(type));
    return fmt::format("{}{}{}i", re, im.starts_with('-') ? "" : "+", im);
}

/// How many numbers of the type lie between two finite ones, one of them counted.
double ulps(const FileType& type, const std::byte* a, const std::byte* b) {
    const auto ordered = [&](const std::byte* stored) {  // the magnitude's bits as an integer, with the number's sign
        std::uint64_t bits = 0;
        const std::size_t size = part_size(type);
        std::memcpy(&bits, stored, size);
        const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
        const auto magnitude = static_cast<long double>(bits & (sign - 1));
        return (bits & sign) != 0 ? -magnitude : magnitude;
    };
    return static_cast<double>(std::abs(ordered(a) - ordered(b)));
}

/// Two streams of stored elements looked at one after the other.
class Comparer {
  public:
    Comparer(const Info& a, const Info& b, const std::optional<Nearness>& nearness, Comparison& result)
        : a_(a.type),
          b_(b.type),
          nearness_(nearness),
          result_(result),
          one_type_(same_numbers(a.type, b.type)),
          floating_(a.type.kind == Kind::floating || complex()) {
        result_.max_abs = 0;
        if (one_type_ && floating_) result_.max_ulp = 0;
    }

    bool complex() const { return a_.kind == Kind::complex || b_.kind == Kind::complex; }
    static std::size_t element_size(const FileType& type) {
        return part_size(type) * (type.kind == Kind::complex ? 2 : 1);
    }

    /// n elements; index_of(i): where element i lies.
    template <class IndexOf>
    void look(const std::byte* a, const std::byte* b, std::int64_t n, IndexOf index_of) {
        const std::size_t a_size = element_size(a_), b_size = element_size(b_);
        for (std::int64_t i = 0; i < n; ++i, a += a_size, b += b_size) {
            const Parts seen_a = parts(a_, a), seen_b = parts(b_, b);
            const long double norm = seen_b.re * seen_b.re + seen_b.im * seen_b.im;
            const bool same_bits = one_type_ && std::memcmp(a, b, a_size) == 0;
            if (same_bits) {
                if (std::isfinite(norm)) norm_ += norm;
                continue;
            }
            const Gap re = gap(seen_a.re, seen_b.re), im = gap(seen_a.im, seen_b.im);
            const bool classes = re.classes || im.classes;  // NaN or Inf against something else
            const long double distance = std::hypot(re.distance, im.distance);
            if (!classes && std::isfinite(norm)) {
                norm_ += norm;
                error_ += distance * distance;
                result_.max_abs = std::max(result_.max_abs, static_cast<double>(distance));
                if (one_type_ && floating_)
                    for (std::size_t part = 0; part < a_size; part += part_size(a_))
                        result_.max_ulp = std::max(result_.max_ulp, ulps(a_, a + part, b + part));
            }
            long double excess = classes ? infinity : distance;  // by which the worst places are chosen
            if (nearness_ && !classes) {
                const long double allowed = nearness_->atol + nearness_->rtol * std::hypot(seen_b.re, seen_b.im);
                if (distance <= allowed || distance == 0) continue;
                excess = allowed > 0 ? distance / allowed : infinity;
            } else if (!one_type_ && distance == 0 && !classes) {
                continue;  // two types, one value
            }
            result_.differ += 1;
            result_.not_finite += classes;
            if (scores_.size() < worst_kept || excess > scores_.back()) {
                const auto at =
                    std::upper_bound(scores_.begin(), scores_.end(), excess, std::greater<>()) - scores_.begin();
                scores_.insert(scores_.begin() + at, excess);
                result_.worst.insert(result_.worst.begin() + at, {index_of(i), value_text(a_, a), value_text(b_, b)});
                if (scores_.size() > worst_kept) scores_.pop_back(), result_.worst.pop_back();
            }
        }
    }

    void finish() {
        result_.rel_l2 = static_cast<double>(error_ == 0 ? 0 : norm_ == 0 ? infinity : std::sqrt(error_ / norm_));
        result_.same = result_.same && result_.differ == 0;
    }

  private:
    struct Parts {
        long double re, im;
    };
    struct Gap {
        long double distance;
        bool classes;
    };
    static Parts parts(const FileType& type, const std::byte* stored) {
        return {widened(type, stored), type.kind == Kind::complex ? widened(type, stored + part_size(type)) : 0};
    }
    static Gap gap(long double a, long double b) {
        if (std::isfinite(a) && std::isfinite(b)) return {std::abs(a - b), false};
        return {0, !(a == b || (std::isnan(a) && std::isnan(b)))};
    }

    const FileType &a_, &b_;
    const std::optional<Nearness>& nearness_;
    Comparison& result_;
    bool one_type_, floating_;
    long double error_ = 0, norm_ = 0;
    std::vector<long double> scores_;  // of result_.worst
};

/// Can its bytes be compared: no pointers in them?
bool flat(hid_t type) {
    switch (H5Tget_class(type)) {
        case H5T_VLEN:
        case H5T_REFERENCE:
        case H5T_NO_CLASS:
            return false;
        case H5T_STRING:
            return H5Tis_variable_str(type) == 0;
        case H5T_ARRAY: {
            const Handle element(H5Tget_super(type), H5Tclose);
            return element.valid() && flat(element);
        }
        case H5T_COMPOUND:
            for (int i = 0; i < H5Tget_nmembers(type); ++i) {
                const Handle member(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
                if (!member.valid() || !flat(member)) return false;
            }
            return true;
        default:
            return true;
    }
}

/// The elements of a source, piece after piece, whatever their type.
template <class Look>
void for_both(const Info& a, const Source& first, std::size_t a_size, const Source& second, std::size_t b_size,
              Look look) {
    std::unique_ptr<std::byte[]> from_a, from_b;
    std::int64_t room = 0;
    for_pieces(whole(a.shape), a.chunks, std::max(a_size, b_size), false, [&](const Piece& piece) {
        Shape extents;
        for (const Range& range : piece.file) extents.push_back(range.count);
        const std::int64_t n = count(extents);
        if (n > room) {
            from_a.reset(new std::byte[static_cast<std::size_t>(n) * a_size]);
            from_b.reset(new std::byte[static_cast<std::size_t>(n) * b_size]);
            room = n;
        }
        first.raw(piece.file, from_a.get());
        second.raw(piece.file, from_b.get());
        look(from_a.get(), from_b.get(), n, [&](std::int64_t i) {
            Shape index = unravel(i, extents);
            for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += piece.file[axis].begin;
            return index;
        });
    });
}

/// Of variable-length strings an element is a pointer, which HDF5 has allocated.
void compare_strings(const Info& a, const Source& first, const Source& second, Comparison& result) {
    for_both(
        a, first, sizeof(char*), second, sizeof(char*),
        [&](std::byte* left, std::byte* right, std::int64_t n, const auto& index_of) {
            auto** const a_text = reinterpret_cast<char**>(left);
            auto** const b_text = reinterpret_cast<char**>(right);
            for (std::int64_t i = 0; i < n; ++i) {
                const std::string_view text = a_text[i] == nullptr ? "" : a_text[i];
                const std::string_view other = b_text[i] == nullptr ? "" : b_text[i];
                if (text != other && ++result.differ <= static_cast<std::int64_t>(worst_kept))
                    result.worst.push_back({index_of(i), fmt::format("\"{}\"", text), fmt::format("\"{}\"", other)});
                H5free_memory(a_text[i]);
                H5free_memory(b_text[i]);
            }
        });
}

void compare_bytes(const Info& a, const Source& first, const Source& second, std::size_t size, Comparison& result) {
    for_both(
        a, first, size, second, size,
        [&](const std::byte* left, const std::byte* right, std::int64_t n, const auto& index_of) {
            for (std::int64_t i = 0; i < n; ++i, left += size, right += size)
                if (std::memcmp(left, right, size) != 0 && ++result.differ <= static_cast<std::int64_t>(worst_kept))
                    result.worst.push_back({index_of(i), "other bytes", ""});
        });
}

void compare_others(const Info& a, const Info& b, Comparison& result) {
    const Source first(a, true), second(b, true);
    const hid_t type = first.type(), other = second.type();
    const bool strings = H5Tis_variable_str(type) > 0 && H5Tis_variable_str(other) > 0;
    if (!strings && H5Tequal(type, other) <= 0) {
        result.same = false;
        result.why = fmt::format("dtype {} and {}", a.type.text, b.type.text);
        return;
    }
    if (strings)
        compare_strings(a, first, second, result);
    else if (flat(type))
        compare_bytes(a, first, second, H5Tget_size(type), result);
    else
        throw Error(Category::input,
                    fmt::format("{}: values of type {} are not compared (they lie elsewhere in the file)",
                                place(a.file, a.path), a.type.text));
    result.same = result.differ == 0;
}

}  // namespace

Comparison compare(const Info& a, const Info& b, const std::optional<Nearness>& nearness) {
    const Quiet quiet;
    Comparison result;
    const auto shape_text = [](const Info& info) { return info.null_space ? "null" : to_text(info.shape); };
    if (a.null_space != b.null_space || a.shape != b.shape) {
        result.same = false;
        result.why = fmt::format("shape {} and {}", shape_text(a), shape_text(b));
        return result;
    }
    if (is_number(a) != is_number(b) || (is_number(a) && !same_numbers(a.type, b.type))) {
        result.same = is_number(a) && is_number(b) && nearness.has_value();
        result.why = fmt::format("dtype {} and {}", a.type.text, b.type.text);
        if (!is_number(a) || !is_number(b)) return result;
    }
    if (a.null_space || a.matlab_empty != b.matlab_empty) {
        if (!a.null_space) result.same = false, result.why = "an empty MATLAB array and the numbers of its dimensions";
        return result;
    }
    result.elements = a.matlab_empty ? 0 : count(a.shape);
    if (result.elements == 0) return result;
    if (!is_number(a)) {
        compare_others(a, b, result);
        return result;
    }
    const Source first(a), second(b);
    Comparer comparer(a, b, nearness, result);
    for_both(a, first, Comparer::element_size(a.type), second, Comparer::element_size(b.type),
             [&](const std::byte* left, const std::byte* right, std::int64_t n, const auto& index_of) {
                 comparer.look(left, right, n, index_of);
             });
    comparer.finish();
    return result;
}

}  // namespace gridstride::hdf5
