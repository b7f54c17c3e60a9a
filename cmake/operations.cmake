# SPDX-License-Identifier: BSD-3-Clause
# add_operation(NAME CPU words... CUDA words...): one line an operation, one word a variant. A word is the file's stem,
# the namespace, the YAML value and the report's row. write_registry() makes the table of all of them.

function(add_operation name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "CPU;CUDA")
  set(sources ${name}.cpp reference.cpp)
  foreach(word IN LISTS arg_CPU)
    list(APPEND sources cpu/${word}.cpp)
  endforeach()
  if(GRIDSTRIDE_HAS_CUDA)
    foreach(word IN LISTS arg_CUDA)
      list(APPEND sources cuda/${word}.cu)
    endforeach()
  endif()
  add_library(gridstride_${name} STATIC ${sources})
  target_link_libraries(gridstride_${name} PUBLIC gridstride_core)
  set_property(GLOBAL APPEND PROPERTY GRIDSTRIDE_OPERATIONS ${name})
  set_property(GLOBAL PROPERTY GRIDSTRIDE_${name}_CPU ${arg_CPU})
  set_property(GLOBAL PROPERTY GRIDSTRIDE_${name}_CUDA ${arg_CUDA})
endfunction()

# Writes registry.cpp: explicit code, since linkers drop static self-registration. Without CUDA the rows of its words
# are made here and only refuse; a word that begins with `racing` is a faulty one, those of NVIDIA's libraries are the
# vendor's.
function(write_registry file)
  get_property(names GLOBAL PROPERTY GRIDSTRIDE_OPERATIONS)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS names)
    string(APPEND declarations "namespace ${name} {\nextern const Op op;\n")
    string(APPEND entries "        {&${name}::op, {")
    get_property(cpu GLOBAL PROPERTY GRIDSTRIDE_${name}_CPU)
    get_property(cuda GLOBAL PROPERTY GRIDSTRIDE_${name}_CUDA)
    foreach(word IN LISTS cpu)
      string(APPEND declarations "namespace cpu::${word} {\nextern const Variant row;\n}\n")
      string(APPEND entries "&${name}::cpu::${word}::row, ")
    endforeach()
    foreach(word IN LISTS cuda)
      if(GRIDSTRIDE_HAS_CUDA)
        string(APPEND declarations "namespace cuda::${word} {\nextern const Variant row;\n}\n")
      else()
        set(role custom)
        if(word MATCHES "^racing")
          set(role faulty)
        elseif(word MATCHES "^(memcpy|cub|cublas|cublaslt|cufft)$")
          set(role vendor)
        endif()
        string(APPEND declarations "namespace cuda::${word} {\nconst Variant row{.name = \"${word}\", .role = Role::${role}, "
          ".device = Device::cuda, .doc = \"not in this build (no CUDA toolkit)\", "
          ".refuses = [](const Problem&) { return std::string(\"${word}: not in this build (no CUDA toolkit)\"); }};\n}\n")
      endif()
      string(APPEND entries "&${name}::cuda::${word}::row, ")
    endforeach()
    string(APPEND declarations "}  // namespace ${name}\n")
    string(APPEND entries "}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"// Written by cmake/operations.cmake from the operations' folders.
#include \"core/operation.hpp\"

namespace gridstride {
@declarations@
const std::vector<Entry>& registry() {
    static const std::vector<Entry> entries{
@entries@    };
    return entries;
}

}  // namespace gridstride
")
endfunction()
