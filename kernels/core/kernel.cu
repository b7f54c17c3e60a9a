// SPDX-License-Identifier: BSD-3-Clause
// Limits and occupancy of launches.
#include "core/kernel.cuh"

namespace gridstride::cuda {

std::string launch_refusal(const Problem& problem, const void* kernel, std::size_t rank, std::size_t shared) {
    const Launch& launch = problem.launch;
    const Limits& limits = problem.place.limits;
    if (launch.grid.size() > rank || launch.block.size() > rank)
        return "this variant's grid and block have at most " + std::to_string(rank) +
               (rank == 1 ? " extent" : " extents");
    for (const Shape* shape : {&launch.grid, &launch.block})
        for (const std::int64_t extent : *shape)
            if (extent < 1) return "the extents of grid and block are at least 1";
    const auto binds = [](const char* what, std::int64_t asked, std::int64_t most) {
        return std::string(what) + ": " + std::to_string(asked) + " asked, at most " + std::to_string(most);
    };
    std::int64_t threads = 1;
    for (std::size_t i = 0; i < launch.block.size(); ++i) {
        const std::int64_t most = i < 2 ? limits.block_xy : limits.block_z;
        if (most > 0 && launch.block[i] > most)
            return binds(i == 0 ? "block x" : i == 1 ? "block y" : "block z", launch.block[i], most);
        threads *= launch.block[i];
    }
    for (std::size_t i = 0; i < launch.grid.size(); ++i) {
        const std::int64_t most = i == 0 ? limits.grid_x : limits.grid_yz;
        if (most > 0 && launch.grid[i] > most)
            return binds(i == 0 ? "grid x" : i == 1 ? "grid y" : "grid z", launch.grid[i], most);
    }
    if (limits.threads_per_block == 0) return {};  // no device to ask
    if (threads > limits.threads_per_block) return binds("threads a block", threads, limits.threads_per_block);
    cudaFuncAttributes attributes{};
    check(cudaSetDevice(problem.place.index));
    check(cudaFuncGetAttributes(&attributes, kernel));
    if (threads > attributes.maxThreadsPerBlock)
        return binds("threads a block, by this kernel's registers", threads, attributes.maxThreadsPerBlock);
    if (static_cast<std::int64_t>(shared + attributes.sharedSizeBytes) > limits.shared_memory_per_block)
        return binds("shared memory a block in bytes", static_cast<std::int64_t>(shared + attributes.sharedSizeBytes),
                     limits.shared_memory_per_block);
    return {};
}

Launched describe(const void* kernel, dim3 grid, dim3 block, std::size_t shared, std::int64_t work) {
    const auto threads = static_cast<std::int64_t>(block.x) * block.y * block.z;
    Launched launched{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 0, 0, 0};
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&launched.blocks_per_multiprocessor, kernel,
                                                        static_cast<int>(threads), shared));
    int device = 0, resident = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    launched.occupancy = static_cast<double>(launched.blocks_per_multiprocessor) *
                         static_cast<double>((threads + 31) / 32 * 32) / resident;
    const std::int64_t all = static_cast<std::int64_t>(grid.x) * grid.y * grid.z * threads;
    launched.idle_threads = all > work ? all - work : 0;
    return launched;
}

}  // namespace gridstride::cuda
