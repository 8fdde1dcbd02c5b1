// Includes all algorithms.
#pragma once

#include <volley/algorithms/diff.hpp>
#include <volley/algorithms/gather.hpp>
#include <volley/algorithms/histogram.hpp>
#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/masked_sum.hpp>
#include <volley/algorithms/matmul.hpp>
#include <volley/algorithms/merge.hpp>
#include <volley/algorithms/percentile.hpp>
#include <volley/algorithms/random.hpp>
#include <volley/algorithms/random_generators.hpp>
#include <volley/algorithms/ranges.hpp>
#include <volley/algorithms/rearrange.hpp>
#include <volley/algorithms/reduce.hpp>
#include <volley/algorithms/scan.hpp>
#include <volley/algorithms/searchsorted.hpp>
#include <volley/algorithms/select.hpp>
#include <volley/algorithms/sort.hpp>
#include <volley/algorithms/top_k.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/algorithms/transpose.hpp>
