# SPDX-License-Identifier: BSD-3-Clause
# Compile options shared by all C++ code of the project.
add_library(gridstride_flags INTERFACE)
target_compile_features(gridstride_flags INTERFACE cxx_std_20)
# No contraction: a * b + c rounds twice, on every machine alike; references and generators rely on it.
# g++ 12 and 13 give false -Wrestrict and -Wmaybe-uninitialized of strings and vectors they have inlined.
target_compile_options(gridstride_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wno-restrict -Wno-maybe-uninitialized -ffp-contract=off -march=${GRIDSTRIDE_MARCH}>)
if(GRIDSTRIDE_WERROR)
  target_compile_options(gridstride_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(GRIDSTRIDE_SANITIZE)
  target_compile_options(gridstride_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(gridstride_flags INTERFACE -fsanitize=address,undefined)
endif()
target_link_libraries(gridstride_flags INTERFACE OpenMP::OpenMP_CXX)
