// SPDX-License-Identifier: BSD-3-Clause
// How long a variant takes: warmed up, from memory and not from the cache, often enough to know.
#pragma once

#include <map>
#include <tuple>

#include "core/operation.hpp"
#include "core/rates.hpp"
#include "io/bench.hpp"

namespace gridstride::engine {

struct Measured {
    Tensor out;                // on the host: what the timed plan gives from the same start, after all samples
    std::string method;        // events | graph | clock
    timing::Seconds seconds;   // a call
    bool from_memory = false;  // more bytes than twice the cache between two uses of an input set
    std::optional<timing::Clocks> clocks;
    std::vector<std::string> notes;
};

/// Times the variant on its problem's device. in: on the host, contiguous. budget: seconds for the samples. The
/// steps: input sets until they are more than twice the cache; calls for a tenth of the budget to warm up; samples,
/// each of the next sets, until the median is known or the budget is spent (timing::another). On a GPU a sample is
/// one call between two events, behind a call that hides the launch; below 100 us it is a replayed graph of a
/// millisecond, unless that is slower. On the CPU it is by steady_clock, of calls for 100 us, in three rounds of a
/// third of the budget, each with a plan and memory of its own, so that what differs between runs shows in the
/// quartiles. An output that is an input's is added to again and again. Errors: as compute().
Measured measure(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in, double budget);

/// Bytes/s of the plain kernels, measured when first asked for. Of problems below twice the cache: at twice the cache;
/// above 1 GiB and that: there.
class Rates {
  public:
    explicit Rates(double budget) : budget_(budget) {}
    double of(rates::Mix mix, std::size_t bytes, const Place& place);

  private:
    double budget_;
    std::map<std::tuple<Device, int, int, rates::Mix, std::size_t>, double> known_;
};

}  // namespace gridstride::engine
