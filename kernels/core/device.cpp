// SPDX-License-Identifier: BSD-3-Clause
// What is the same of every device.
#include "core/device.hpp"

#include <omp.h>

namespace gridstride {

std::string_view name(Device device) {
    return device == Device::cpu ? "cpu" : "cuda";
}

std::string name(const Place& place) {
    return place.device == Device::cpu ? "cpu" : "cuda:" + std::to_string(place.index);
}

int threads_of(const Place& place) {
    return place.threads > 0 ? place.threads : omp_get_max_threads();
}

}  // namespace gridstride
