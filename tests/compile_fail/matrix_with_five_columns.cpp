// expect: a mat must have 2 to 4 columns and 2 to 4 rows
#include <volley/mat.hpp>

volley::mat<float, 5, 2> matrix;
