# Enables the CUDA language: with the compiler that is named or found (12.4 or newer), else with one
# assembled from wheels. The result links cudart statically and needs no CUDA at run time.
set(MATADOR_CUDA_ARCHITECTURES "75;80;86;89;90a;100" CACHE STRING
    "GPU generations to build for, as in CMAKE_CUDA_ARCHITECTURES")
set(CMAKE_CUDA_ARCHITECTURES ${MATADOR_CUDA_ARCHITECTURES})

if(NOT CMAKE_CUDA_COMPILER)
  find_program(MATADOR_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
               PATH_SUFFIXES bin)
  if(MATADOR_NVCC)
    execute_process(COMMAND ${MATADOR_NVCC} --version OUTPUT_VARIABLE nvcc_version)
    string(REGEX MATCH "release ([0-9.]+)" _ "${nvcc_version}")
  endif()
  if(MATADOR_NVCC AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 12.4)
    set(CMAKE_CUDA_COMPILER ${MATADOR_NVCC})
  else()
    execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/cuda-toolchain.sh
                    OUTPUT_VARIABLE cuda_folder OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
    set(CMAKE_CUDA_COMPILER ${cuda_folder}/bin/nvcc)
  endif()
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake knows it from 3.26 on
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA_STANDARD_LATEST 20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
if(CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
