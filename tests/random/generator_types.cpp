// Random types. Structs come from a fixed set of 96, because interned types live until the process exits.
#include "random/generator_state.hpp"

#include <algorithm>

namespace volley::testing {

using S = ScalarType;

ScalarType Generator::integer_type() {
    if (random_.chance(55)) return random_.pick({S::I32, S::U32});
    return random_.pick({S::I8, S::U8, S::I16, S::U16, S::I32, S::U32, S::I64, S::U64});
}

ScalarType Generator::float_type() {
    if (random_.chance(60)) return S::F32;
    return random_.pick({S::F16, S::F32, S::F64});
}

ScalarType Generator::scalar_type() {
    if (random_.chance(10)) return S::Bool;
    return options_.floats && random_.chance(50) ? float_type() : integer_type();
}

DType Generator::arithmetic_type() {
    const S scalar = options_.floats && random_.chance(50) ? float_type() : integer_type();
    if (random_.chance(75)) return scalar;
    return DType::vector(scalar, static_cast<unsigned>(random_.between(2, 4)));
}

DType Generator::struct_type(std::uint64_t number, unsigned depth) {
    // Derived only from its number, so a struct is the same type in every program.
    Random random(number * 7919 + (options_.floats ? 1 : 0));
    const std::vector<S> scalars =
        options_.floats
            ? std::vector<S>{S::I8, S::U16, S::I32, S::U32, S::F32, S::F32, S::F64, S::F16, S::I64, S::Bool}
            : std::vector<S>{S::I8, S::U16, S::I32, S::U32, S::I64, S::Bool};
    std::vector<StructField> fields;
    std::size_t size = 0;
    std::size_t align = 1;
    const std::uint64_t count = random.below(4) + 1;
    for (std::uint64_t i = 0; i < count; ++i) {
        DType type = random.pick(scalars);
        switch (random.below(8)) {
            case 0: type = DType::vector(type.scalar(), static_cast<unsigned>(random.between(2, 4))); break;
            case 1: type = DType::array(type, random.below(4) + 1); break;
            case 2:
                if (depth < 2 && number % 3 == 0) type = struct_type(number / 3 + 1, depth + 1);
                break;
            case 3:
                if (options_.floats) type = DType::complex(random.pick({S::F16, S::F32, S::F64}));
                break;
            default: break;
        }
        size = (size + type.align() - 1) / type.align() * type.align();
        if (random.chance(15)) size += type.align();  // a hole, like a member that kernels do not declare
        fields.push_back({"m" + std::to_string(i), type, size});
        size += type.size();
        align = std::max(align, type.align());
    }
    size = (size + align - 1) / align * align;
    return DType::structure((options_.floats ? "F" : "S") + std::to_string(number), fields, size, align);
}

DType Generator::value_type() {
    const std::uint64_t kind = random_.below(100);
    if (kind < 60) return scalar_type();
    if (kind < 80) return DType::vector(scalar_type(), static_cast<unsigned>(random_.between(2, 4)));
    if (kind < 86 && options_.floats) return DType::complex(float_type());
    if (kind < 89 && options_.floats) {
        return DType::matrix(float_type(), static_cast<unsigned>(random_.between(2, 4)),
                             static_cast<unsigned>(random_.between(2, 4)));
    }
    if (kind < 94) return DType::array(scalar_type(), random_.below(6) + 1);
    return struct_type(random_.below(96), 0);
}

}  // namespace volley::testing
