// Operations on matrices as columns: products, transposes, determinants and inverses.
#include "lang/expand.hpp"

namespace volley::lang {

using ir::NodeId;
using ir::Op;

namespace {

/// The components of a matrix as scalars, m(c, r).
class MatrixComponents {
public:
    MatrixComponents(Expand& x, NodeId matrix)
        : columns_(x.type(matrix).columns()), rows_(x.type(matrix).rows()) {
        for (unsigned c = 0; c < columns_; ++c) {
            const NodeId column = x.part(matrix, c);
            for (unsigned r = 0; r < rows_; ++r) at_[c * 4 + r] = x.part(column, r);
        }
    }
    [[nodiscard]] unsigned columns() const { return columns_; }
    [[nodiscard]] unsigned rows() const { return rows_; }
    NodeId operator()(unsigned c, unsigned r) const { return at_[c * 4 + r]; }

private:
    unsigned columns_;
    unsigned rows_;
    NodeId at_[16] = {};
};

// Returns the determinant of the submatrix of the given columns and rows.
NodeId minor(Expand& x, const MatrixComponents& m, std::span<const unsigned> columns,
             std::span<const unsigned> rows) {
    if (columns.size() == 1) return m(columns[0], rows[0]);
    if (columns.size() == 2) {
        return x.sub(x.mul(m(columns[0], rows[0]), m(columns[1], rows[1])),
                     x.mul(m(columns[1], rows[0]), m(columns[0], rows[1])));
    }
    NodeId sum = ir::none;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        std::vector<unsigned> others;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (c != k) others.push_back(columns[c]);
        }
        const NodeId term = x.mul(m(columns[k], rows[0]), minor(x, m, others, rows.subspan(1)));
        sum = sum == ir::none ? term : k % 2 == 0 ? x.add(sum, term) : x.sub(sum, term);
    }
    return sum;
}

std::vector<unsigned> all_but(unsigned n, unsigned skipped) {
    std::vector<unsigned> result;
    for (unsigned k = 0; k < n; ++k) {
        if (k != skipped) result.push_back(k);
    }
    return result;
}

NodeId determinant(Expand& x, const MatrixComponents& m) {
    const std::vector<unsigned> all = all_but(m.columns(), m.columns());
    return minor(x, m, all, all);
}

// Divides the adjugate by the determinant, which is the sum of products of the first row and its cofactors.
NodeId inverse(Expand& x, NodeId matrix) {
    const DType t = x.type(matrix);
    const MatrixComponents m(x, matrix);
    const unsigned n = m.columns();
    NodeId cofactors[16] = {};
    for (unsigned c = 0; c < n; ++c) {
        for (unsigned r = 0; r < n; ++r) {
            const NodeId value = minor(x, m, all_but(n, c), all_but(n, r));
            cofactors[c * 4 + r] = (c + r) % 2 == 0 ? value : x.neg(value);
        }
    }
    NodeId det = x.mul(m(0, 0), cofactors[0]);
    for (unsigned c = 1; c < n; ++c) det = x.add(det, x.mul(m(c, 0), cofactors[c * 4]));
    const NodeId scale = x.div(x.number(t.scalar(), 1), det);
    std::vector<NodeId> columns;
    for (unsigned c = 0; c < n; ++c) {
        std::vector<NodeId> column;
        for (unsigned r = 0; r < n; ++r) column.push_back(x.mul(cofactors[r * 4 + c], scale));
        columns.push_back(x.make(t.part(0), column));
    }
    return x.make(t, columns);
}

NodeId transpose(Expand& x, NodeId matrix) {
    const MatrixComponents m(x, matrix);
    const DType t = DType::matrix(x.type(matrix).scalar(), m.rows(), m.columns());
    std::vector<NodeId> columns;
    for (unsigned r = 0; r < m.rows(); ++r) {
        std::vector<NodeId> column;
        for (unsigned c = 0; c < m.columns(); ++c) column.push_back(m(c, r));
        columns.push_back(x.make(t.part(0), column));
    }
    return x.make(t, columns);
}

// Returns matrix * vector, as the weighted sum of the columns.
NodeId combine(Expand& x, NodeId matrix, NodeId weights) {
    const DType column = x.type(matrix).part(0);
    NodeId sum = ir::none;
    for (std::uint32_t c = 0; c < x.type(matrix).columns(); ++c) {
        const NodeId term = x.mul(x.part(matrix, c), x.widen(x.part(weights, c), column));
        sum = sum == ir::none ? term : x.add(sum, term);
    }
    return sum;
}

NodeId product(Expand& x, NodeId a, NodeId b) {
    if (x.type(b).is_vector()) return combine(x, a, b);
    const DType right = x.type(b);
    std::vector<NodeId> parts;
    if (x.type(a).is_vector()) {
        for (std::uint32_t c = 0; c < right.columns(); ++c) parts.push_back(x.dot(a, x.part(b, c)));
        return x.make(DType::vector(right.scalar(), right.columns()), parts);
    }
    for (std::uint32_t c = 0; c < right.columns(); ++c) parts.push_back(combine(x, a, x.part(b, c)));
    return x.make(DType::matrix(right.scalar(), right.columns(), x.type(a).rows()), parts);
}

}  // namespace

NodeId Expand::matrix_scale(Op node, NodeId a, NodeId b) {
    const bool left = type(a).is_matrix();
    const DType t = left ? type(a) : type(b);
    const DType column = t.part(0);
    const NodeId factor = widen(left ? b : a, column);
    std::vector<NodeId> columns;
    for (std::uint32_t c = 0; c < t.columns(); ++c) {
        columns.push_back(left ? op(node, {part(a, c), factor}) : op(node, {factor, part(b, c)}));
    }
    return make(t, columns);
}

NodeId Expand::matrix_fn(Fn fn, Nodes args) {
    const NodeId a = args[0];
    switch (fn) {
        case Fn::MatrixProduct: return product(*this, a, args[1]);
        case Fn::Transpose: return transpose(*this, a);
        case Fn::Determinant: return determinant(*this, MatrixComponents(*this, a));
        case Fn::Inverse: return inverse(*this, a);
        case Fn::OuterProduct: {
            const DType row = type(args[1]);
            const DType t = DType::matrix(row.scalar(), static_cast<unsigned>(row.count()),
                                          static_cast<unsigned>(type(a).count()));
            std::vector<NodeId> columns;
            for (std::uint32_t c = 0; c < row.count(); ++c) {
                columns.push_back(mul(a, widen(part(args[1], c), type(a))));
            }
            return make(t, columns);
        }
        default: {  // MatrixCompMult
            std::vector<NodeId> columns;
            for (std::uint32_t c = 0; c < type(a).columns(); ++c) {
                columns.push_back(mul(part(a, c), part(args[1], c)));
            }
            return make(type(a), columns);
        }
    }
}

}  // namespace volley::lang
