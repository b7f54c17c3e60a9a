// SPDX-License-Identifier: BSD-3-Clause
// The steps of a measurement, the same for variants and for the plain kernels beside them.
#include "measure.hpp"

#include "compute.hpp"
#include "core/clocks.hpp"
#include "staging.hpp"
#include "stopwatch.hpp"
#include "timing.hpp"

namespace gridstride::engine {

namespace {

constexpr double warm_up_share = 0.1;                         // of the budget
constexpr double graph_seconds = 1e-3, clock_seconds = 1e-4;  // of a sample, at the least
constexpr int cpu_rounds = 3;                                 // plans and memory of their own
constexpr std::size_t large = std::size_t{1} << 30;           // bytes from which a rate no longer changes

/// Input sets, alike but in places of their own, each with its output. queue: of the device; null on the CPU.
class Sets {
  public:
    Sets(const Problem& problem, std::span<const Slab> in, int alias, std::size_t count, cuda::Queue* queue)
        : problem_(problem), given_(in.begin(), in.end()), alias_(alias), queue_(queue) {
        std::size_t largest = problem.out[0].bytes();
        for (const Slab& slab : in) largest = std::max(largest, slab.spec.present ? slab.spec.bytes() : 0);
        if (queue != nullptr) staging_.emplace(*queue, largest);
        while (sets_.size() < count) add();
    }

    /// The next set as a call takes it.
    void call(const Step& step, std::byte* workspace) {
        const Set& set = sets_[next_];
        next_ = (next_ + 1) % sets_.size();
        const Slab out = set.out.slab();
        step({set.in, {&out, 1}, workspace, queue_ == nullptr ? Stream{} : queue_->stream()});
    }

    /// The output of the first set, from its start, by one more call.
    Tensor again(const Step& step, std::byte* workspace) {
        begin(sets_[0]);
        next_ = 0;
        call(step, workspace);
        Tensor result(problem_.out[0]);
        const Tensor& out = sets_[0].out;
        if (queue_ == nullptr) return std::move(sets_[0].out);
        queue_->synchronize();
        staging_->to_host(out.data(), result.data(), out.spec().bytes());
        return result;
    }

  private:
    struct Set {
        std::vector<Tensor> own;
        std::vector<Slab> in;
        Tensor out;
    };

    Tensor make(const Spec& spec) const {
        return queue_ == nullptr ? Tensor(spec) : Tensor(spec, Memory::device, problem_.place.index);
    }
    /// Of a host tensor, to where the sets are.
    void bring(const Slab& from, const Tensor& to) {
        if (queue_ == nullptr)
            copy_on_host(from.data, to.data(), to.spec().bytes());
        else
            staging_->to_device(from.data, to.data(), to.spec().bytes());
    }
    /// An output as it begins.
    void begin(const Set& set) {
        if (alias_ >= 0)
            bring(given_[static_cast<std::size_t>(alias_)], set.out);
        else if (queue_ == nullptr)
            poison(set.out.slab());
        else  // all bits set is NaN in every float type
            queue_->fill(set.out.data(), is_integer(set.out.spec().dtype) ? 0xA5 : 0xFF, set.out.spec().bytes());
    }

    void add() {
        Set set{{}, given_, make(problem_.out[0])};
        for (std::size_t i = 0; i < given_.size(); ++i) {
            if (!given_[i].spec.present) continue;
            if (static_cast<int>(i) == alias_) {
                set.in[i] = set.out.slab();
                continue;
            }
            if (queue_ == nullptr && sets_.empty()) continue;  // as given
            set.own.push_back(make(given_[i].spec));
            if (queue_ == nullptr || sets_.empty())
                bring(given_[i], set.own.back());
            else
                queue_->copy(sets_[0].in[i].data, set.own.back().data(), given_[i].spec.bytes(),
                             cuda::Direction::on_device);
            set.in[i] = set.own.back().slab();
        }
        begin(set);
        sets_.push_back(std::move(set));
    }

    const Problem& problem_;
    std::vector<Slab> given_;
    int alias_;
    cuda::Queue* queue_;
    std::optional<Staging> staging_;
    std::vector<Set> sets_;
    std::size_t next_ = 0;
};

/// Calls for a while, at least one; seconds of the last.
template <class Once>
double warm_up(Once once, double budget) {
    const Stopwatch watch;
    double last = 0;
    do {
        leave_if_stopped();
        last = once();
    } while (watch.seconds() < warm_up_share * budget);
    return last;
}

template <class Sample>
timing::Seconds sampled(Sample sample, double budget) {
    std::vector<double> samples;
    const Stopwatch watch;
    do {
        leave_if_stopped();
        samples.push_back(sample());
    } while (timing::another(samples, watch.seconds(), budget));
    return timing::summary(std::move(samples));
}

/// One plan's times.
Measured one_round(const gridstride::Plan& plan, const Problem& problem, int alias, std::span<const Slab> in,
                   double budget) {
    const Place& place = problem.place;
    const bool on_cuda = place.device == Device::cuda;
    std::optional<cuda::Queue> queue;
    if (on_cuda) queue.emplace(place.index);
    const Tensor workspace = buffer(plan.workspace, on_cuda ? Memory::device : Memory::host, place.index);

    std::size_t bytes = problem.out[0].bytes();
    for (std::size_t i = 0; i < in.size(); ++i)
        if (in[i].spec.present && static_cast<int>(i) != alias) bytes += in[i].spec.bytes();
    const std::size_t cache = rates::sheet(place).cache, count = timing::sets_beyond(cache, bytes);
    Sets sets(problem, in, alias, count, queue ? &*queue : nullptr);
    const auto call = [&] { sets.call(plan.step, workspace.data()); };

    Measured result;
    result.from_memory = count * bytes > 2 * cache;
    if (!on_cuda) {
        const auto by_clock = [&](int calls) {
            const Stopwatch watch;
            for (int i = 0; i < calls; ++i) call();
            return watch.seconds() / calls;
        };
        const int calls = timing::calls_of(warm_up([&] { return by_clock(1); }, budget), clock_seconds);
        result.method = "clock";
        result.seconds = sampled([&] { return by_clock(calls); }, budget);
    } else {
        const auto by_events = [&] {
            call();  // the device is still busy with it when the next is launched
            return queue->time(call);
        };
        const std::string uuid = cuda::devices().at(static_cast<std::size_t>(place.index)).uuid;
        const double once = warm_up(by_events, budget);
        const int calls = std::max(timing::calls_of(once, graph_seconds), static_cast<int>(count));
        result.method = "events";
        if (once < timing::replay_below) {
            const auto replayed = queue->replay(call, calls);
            if (!replayed)
                result.notes.push_back("cannot be captured in a graph: its launch counts too");
            else if (*replayed <= once)
                result.method = "graph";
            else  // the driver copies by other means there, up to half as slow again
                result.notes.push_back("slower as a graph: timed by events");
        }
        result.seconds = result.method == "graph" ? sampled([&] { return queue->replay(call, calls).value(); }, budget)
                                                  : sampled(by_events, budget);
        if (const auto now = cuda::clocks(uuid))
            result.clocks = timing::Clocks{now->sm_mhz, now->mem_mhz, now->power_w, now->throttle};
    }
    result.out = sets.again(plan.step, workspace.data());
    return result;
}

template <class Prepare>
Measured measure(Prepare prepare, const Problem& problem, int alias, std::span<const Slab> in, double budget) {
    if (problem.place.device == Device::cuda) return one_round(prepare(), problem, alias, in, budget);
    Measured result;
    std::vector<double> samples;
    for (int round = 0; round < cpu_rounds; ++round) {
        result = one_round(prepare(), problem, alias, in, budget / cpu_rounds);
        samples.insert(samples.end(), result.seconds.samples.begin(), result.seconds.samples.end());
    }
    result.seconds = timing::summary(std::move(samples));
    return result;
}

}  // namespace

Measured measure(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in,
                 double budget) {
    return measure([&] { return prepare(variant, problem); }, problem, in_place(op, problem), in, budget);
}

double Rates::of(rates::Mix mix, std::size_t bytes, const Place& place) {
    const std::size_t beyond = 2 * rates::sheet(place).cache + 4096;  // so that one set is
    const std::size_t size = std::clamp(bytes, beyond, std::max(beyond, large));
    double& rate = known_[{place.device, place.index, place.threads, mix, size}];
    if (rate > 0) return rate;
    const Problem problem = rates::problem(mix, size, place);
    std::vector<Tensor> inputs;
    std::vector<Slab> in;
    for (const Spec& spec : problem.in) {
        inputs.emplace_back(spec);
        in.push_back(inputs.back().slab());
        for_blocks(spec.size(), 1 << 20, threads_of(place), [&](std::int64_t begin, std::int64_t end) {
            std::fill(in.back().as<float>() + begin, in.back().as<float>() + end, 0.F);
        });
    }
    std::size_t moved = 0;
    for (const auto* specs : {&problem.in, &problem.out})
        for (const Spec& spec : *specs) moved += spec.bytes();
    const auto plan = [&] { return rates::prepare(mix, problem); };
    rate = static_cast<double>(moved) / measure(plan, problem, -1, in, budget_).seconds.median;
    return rate;
}

}  // namespace gridstride::engine
