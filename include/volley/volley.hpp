// All of Volley. Programs include this; the library's own headers include what they use.
#pragma once

#include <volley/buffer.hpp>
#include <volley/context.hpp>
#include <volley/device.hpp>
#include <volley/error.hpp>
#include <volley/event.hpp>
#include <volley/kernel.hpp>
#include <volley/lang/lang.hpp>
#include <volley/log.hpp>
#include <volley/memory_stats.hpp>
#include <volley/placement.hpp>
#include <volley/print_sink.hpp>
#include <volley/queue.hpp>
#include <volley/raw_kernel.hpp>
#include <volley/shape.hpp>
#include <volley/statistics.hpp>
#include <volley/version.hpp>
