// Skips tests of GLSL kernels if the build lacks the optional compiler.
#pragma once

#include "codegen/glsl/glsl_compiler.hpp"

#include <gtest/gtest.h>

#define VOLLEY_NEEDS_GLSL()                    \
    if (!::volley::codegen::glsl::available()) \
    GTEST_SKIP() << "this build has no GLSL compiler; install libshaderc-dev or glslang-dev"
