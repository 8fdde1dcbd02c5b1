// Includes the whole kernel language.
#pragma once

#include <volley/lang/any_function.hpp>
#include <volley/lang/any_value.hpp>
#include <volley/lang/atomic.hpp>
#include <volley/lang/buff.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/comment.hpp>
#include <volley/lang/complex.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/element.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/index.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/matrix.hpp>
#include <volley/lang/param.hpp>
#include <volley/lang/print.hpp>
#include <volley/lang/shared.hpp>
#include <volley/lang/signature.hpp>
#include <volley/lang/structs.hpp>
#include <volley/lang/subgroup.hpp>
#include <volley/lang/trace.hpp>
#include <volley/lang/type_of.hpp>
#include <volley/lang/value.hpp>
#include <volley/lang/var.hpp>
#include <volley/lang/vector.hpp>
