// For tests of kernels in GLSL: the compiler is an optional part of a build.
#pragma once

#include "codegen/glsl/glsl_compiler.hpp"

#include <gtest/gtest.h>

#define VOLLEY_NEEDS_GLSL()                    \
    if (!::volley::codegen::glsl::available()) \
    GTEST_SKIP() << "this build has no GLSL compiler: libshaderc-dev or glslang-dev is missing"
