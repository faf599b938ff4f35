# matador_room(NAME LINKS...): one room of src/ as a static library of its *.cc files. A room links
# only the rooms below it, so a wrong dependency does not link (and tools/check_rooms.py says why).
add_library(matador_options INTERFACE)
target_include_directories(matador_options INTERFACE ${CMAKE_SOURCE_DIR}/src
                                                     ${CMAKE_BINARY_DIR}/generated)
target_compile_options(matador_options INTERFACE
                       $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow -Werror>)
if(MATADOR_SANITIZE)
  target_compile_options(matador_options INTERFACE -fsanitize=${MATADOR_SANITIZE}
                                                   -fno-sanitize-recover=all
                                                   -fno-omit-frame-pointer)
  target_link_options(matador_options INTERFACE -fsanitize=${MATADOR_SANITIZE})
  # clang 14 cannot assemble a coroutine that carries this check's prologue.
  target_compile_options(matador_options INTERFACE
                         $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>)
endif()

if(MATADOR_FUZZ)
  target_compile_options(matador_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

function(matador_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(NOT sources)  # nothing but headers
    add_library(matador_${name} INTERFACE)
    target_link_libraries(matador_${name} INTERFACE matador_options ${ARGN})
    return()
  endif()
  add_library(matador_${name} STATIC ${sources})
  target_link_libraries(matador_${name} PUBLIC matador_options ${ARGN})
endfunction()

# matador_test(ROOM LINKS...): every *_test.cc of tests/ROOM as one GoogleTest program.
function(matador_test room)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_executable(${room}_test ${sources})
  target_link_libraries(${room}_test PRIVATE ${ARGN} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${room}_test
                             PRIVATE MATADOR_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  add_test(NAME ${room} COMMAND ${room}_test)
endfunction()
