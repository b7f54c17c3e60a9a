# SPDX-License-Identifier: BSD-3-Clause
# Everything comes from Debian or Ubuntu packages; bootstrap.sh installs them.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(HDF5 REQUIRED COMPONENTS C HL)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(GRIDSTRIDE_TESTS)
  find_package(GTest REQUIRED)
endif()

# One name for each, whatever the packages of the two systems call it.
add_library(gridstride_hdf5 INTERFACE)
target_include_directories(gridstride_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
target_link_libraries(gridstride_hdf5 INTERFACE ${HDF5_HL_LIBRARIES} ${HDF5_C_LIBRARIES})
target_compile_definitions(gridstride_hdf5 INTERFACE ${HDF5_DEFINITIONS})

add_library(gridstride_yaml INTERFACE)
if(TARGET yaml-cpp::yaml-cpp)
  target_link_libraries(gridstride_yaml INTERFACE yaml-cpp::yaml-cpp)
else()
  target_link_libraries(gridstride_yaml INTERFACE yaml-cpp)
endif()

# FFTW has no CMake package on Debian; float, double and long double, each with its threads library.
add_library(gridstride_fftw INTERFACE)
find_path(FFTW3_INCLUDE fftw3.h REQUIRED)
target_include_directories(gridstride_fftw SYSTEM INTERFACE ${FFTW3_INCLUDE})
foreach(name fftw3f_threads fftw3f fftw3_threads fftw3 fftw3l_threads fftw3l)
  find_library(${name}_LIBRARY ${name} REQUIRED)
  target_link_libraries(gridstride_fftw INTERFACE ${${name}_LIBRARY})
endforeach()
target_link_libraries(gridstride_fftw INTERFACE Threads::Threads m)

add_library(gridstride_openblas INTERFACE)
find_path(OPENBLAS_INCLUDE cblas.h REQUIRED PATH_SUFFIXES openblas x86_64-linux-gnu x86_64-linux-gnu/openblas-pthread openblas-pthread)
find_library(OPENBLAS_LIBRARY openblas REQUIRED PATH_SUFFIXES openblas-pthread)
target_include_directories(gridstride_openblas SYSTEM INTERFACE ${OPENBLAS_INCLUDE})
target_link_libraries(gridstride_openblas INTERFACE ${OPENBLAS_LIBRARY})
