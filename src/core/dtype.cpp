// The table of interned types. Descriptors are created under one lock and never freed, so a DType is a plain
// pointer everywhere else. Scalar descriptors are created with the table and found without the lock.
#include <volley/dtype.hpp>

#include "core/text.hpp"

#include <volley/error.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace volley {

struct TypeInfo {
    TypeKind kind = TypeKind::Void;
    ScalarType scalar = ScalarType::Bool;
    unsigned columns = 0;
    unsigned rows = 0;
    std::uint64_t count = 0;
    std::uint64_t leaves = 0;
    std::size_t size = 0;
    std::size_t align = 1;
    DType element;  // of an array; the column type of a matrix
    std::vector<StructField> fields;
    std::string struct_name;
    std::string name;
};

namespace {

constexpr std::array<std::string_view, 12> scalar_names = {"bool", "i8",  "u8",  "i16", "u16", "i32",
                                                           "u32",  "i64", "u64", "f16", "f32", "f64"};

// Structs with equal keys are the same type: the key covers everything that a device sees of a struct.
std::string struct_key(std::string_view name, std::span<const StructField> fields, std::size_t size,
                       std::size_t align) {
    std::string key = cat("struct ", name, " ", size, " ", align);
    for (const StructField& f : fields) key += cat(";", f.name, ":", f.type.name(), "@", f.offset);
    // A nested struct's name alone does not identify it.
    for (const StructField& f : fields) {
        if (f.type.kind() == TypeKind::Struct || f.type.kind() == TypeKind::Array) {
            key += cat("#", reinterpret_cast<std::uintptr_t>(f.type.info()));
        }
    }
    return key;
}

}  // namespace

struct TypeTable {
    std::array<TypeInfo, 12> scalars;
    std::mutex mutex;
    std::unordered_map<std::string, std::unique_ptr<TypeInfo>> others;

    TypeTable() {
        for (unsigned i = 0; i < scalars.size(); ++i) {
            const auto s = static_cast<ScalarType>(i);
            scalars[i].kind = TypeKind::Scalar;
            scalars[i].scalar = s;
            scalars[i].count = scalars[i].leaves = 1;
            scalars[i].size = scalars[i].align = size_of(s);
            scalars[i].name = scalar_names[i];
        }
    }

    // Deliberately never destroyed: static objects in other files may hold types until the process exits.
    static TypeTable& get() {
        static auto* const table = new TypeTable;
        return *table;
    }

    static DType handle(const TypeInfo* info) { return DType(info); }

    template <class Make>
    DType intern(const std::string& key, Make&& make) {
        const std::lock_guard lock(mutex);
        auto& slot = others[key];
        if (!slot) {
            slot = std::make_unique<TypeInfo>();
            make(*slot);
        }
        return handle(slot.get());
    }
};

std::string_view name_of(ScalarType s) noexcept { return scalar_names[static_cast<unsigned>(s)]; }

DType::DType(ScalarType scalar) : info_(&TypeTable::get().scalars[static_cast<unsigned>(scalar)]) {}

DType DType::complex(ScalarType part) {
    if (!volley::is_float(part)) {
        throw ArgumentError(cat("a complex number cannot have parts of type ", name_of(part)),
                            "DType::complex", "use f16, f32 or f64 parts");
    }
    const std::string name = cat("complex<", name_of(part), ">");
    return TypeTable::get().intern(name, [&](TypeInfo& t) {
        t.kind = TypeKind::Complex;
        t.scalar = part;
        t.count = t.leaves = 2;
        t.size = 2 * size_of(part);
        t.align = size_of(part);
        t.name = name;
    });
}

DType DType::vector(ScalarType component, unsigned count) {
    if (count < 2 || count > 4) {
        throw ArgumentError(cat("a vector cannot have ", count, " components"), "DType::vector",
                            "use 2 to 4 components, or an array for more");
    }
    const std::string name = cat("vec", count, "<", name_of(component), ">");
    return TypeTable::get().intern(name, [&](TypeInfo& t) {
        t.kind = TypeKind::Vector;
        t.scalar = component;
        t.count = t.leaves = count;
        t.size = count * size_of(component);
        t.align = size_of(component);
        t.name = name;
    });
}

DType DType::matrix(ScalarType component, unsigned columns, unsigned rows) {
    if (columns < 2 || columns > 4 || rows < 2 || rows > 4 || !volley::is_float(component)) {
        throw ArgumentError(
            cat("a matrix cannot have ", columns, " columns and ", rows, " rows of ", name_of(component)),
            "DType::matrix", "use 2 to 4 columns and rows of a floating-point type");
    }
    const DType column = vector(component, rows);
    const std::string name = cat("mat", columns, "x", rows, "<", name_of(component), ">");
    return TypeTable::get().intern(name, [&](TypeInfo& t) {
        t.kind = TypeKind::Matrix;
        t.scalar = component;
        t.columns = columns;
        t.rows = rows;
        t.count = columns;
        t.leaves = std::uint64_t{columns} * rows;
        t.size = columns * column.size();
        t.align = column.align();
        t.element = column;
        t.name = name;
    });
}

DType DType::array(DType element, std::uint64_t count) {
    if (element.is_void() || element.size() == 0) {
        throw ArgumentError(cat("an array cannot have elements of type ", element.name()), "DType::array",
                            "use an element type of at least one byte");
    }
    if (count > (std::uint64_t{1} << 48) / element.size()) {
        throw ArgumentError(cat("an array of ", count, " x ", element.name(), " is too large"),
                            "DType::array", "use a buffer");
    }
    const std::string name = cat("array<", element.name(), ", ", count, ">");
    const std::string key = cat(name, "#", reinterpret_cast<std::uintptr_t>(element.info()));
    return TypeTable::get().intern(key, [&](TypeInfo& t) {
        t.kind = TypeKind::Array;
        t.scalar = element.scalar();
        t.count = count;
        t.leaves = count * element.leaf_count();
        t.size = count * element.size();
        t.align = element.align();
        t.element = element;
        t.name = name;
    });
}

DType DType::structure(std::string_view name, std::span<const StructField> fields, std::size_t size,
                       std::size_t align) {
    std::vector<StructField> sorted(fields.begin(), fields.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const StructField& a, const StructField& b) { return a.offset < b.offset; });
    std::size_t end = 0;
    for (const StructField& f : sorted) {
        if (f.type.is_void() || f.offset < end || f.offset + f.type.size() > size) {
            throw ArgumentError(cat("field '", f.name, "' at byte ", f.offset,
                                    " overlaps another field or is outside the struct"),
                                cat("struct ", name), "use the offsets of the host compiler");
        }
        end = f.offset + f.type.size();
    }
    return TypeTable::get().intern(struct_key(name, fields, size, align), [&](TypeInfo& t) {
        t.kind = TypeKind::Struct;
        t.count = fields.size();
        for (const StructField& f : fields) t.leaves += f.type.leaf_count();
        t.size = size;
        t.align = align;
        t.fields.assign(fields.begin(), fields.end());
        t.struct_name = name;
        t.name = name;
    });
}

TypeKind DType::kind() const noexcept { return info_ ? info_->kind : TypeKind::Void; }
std::size_t DType::size() const noexcept { return info_ ? info_->size : 0; }
std::size_t DType::align() const noexcept { return info_ ? info_->align : 1; }
ScalarType DType::scalar() const noexcept { return info_ ? info_->scalar : ScalarType::Bool; }
std::uint64_t DType::count() const noexcept { return info_ ? info_->count : 0; }
unsigned DType::columns() const noexcept { return info_ ? info_->columns : 0; }
unsigned DType::rows() const noexcept { return info_ ? info_->rows : 0; }
std::uint64_t DType::leaf_count() const noexcept { return info_ ? info_->leaves : 0; }

DType DType::part(std::uint64_t i) const {
    if (kind() == TypeKind::Scalar || i >= count()) {
        throw ArgumentError(cat("part ", i, " does not exist"), name(),
                            cat("the type has ", kind() == TypeKind::Scalar ? 0 : count(), " parts"));
    }
    switch (info_->kind) {
        case TypeKind::Complex:
        case TypeKind::Vector: return info_->scalar;
        case TypeKind::Struct: return info_->fields[i].type;
        default: return info_->element;
    }
}

std::size_t DType::part_offset(std::uint64_t i) const {
    const DType p = part(i);
    return info_->kind == TypeKind::Struct ? info_->fields[i].offset : i * p.size();
}

std::span<const StructField> DType::fields() const noexcept {
    return info_ ? std::span<const StructField>(info_->fields) : std::span<const StructField>();
}
std::string_view DType::struct_name() const noexcept {
    return info_ ? std::string_view(info_->struct_name) : std::string_view();
}

bool DType::is_numeric() const noexcept { return kind() >= TypeKind::Scalar && kind() <= TypeKind::Matrix; }
bool DType::is_bool() const noexcept {
    return (kind() == TypeKind::Scalar || kind() == TypeKind::Vector) && scalar() == ScalarType::Bool;
}
bool DType::is_float() const noexcept { return is_numeric() && volley::is_float(scalar()); }
bool DType::is_integer() const noexcept { return is_numeric() && volley::is_integer(scalar()); }
bool DType::is_signed() const noexcept {
    return is_numeric() && (volley::is_float(scalar()) || is_signed_integer(scalar()));
}
bool DType::is_unsigned() const noexcept { return is_numeric() && is_unsigned_integer(scalar()); }

DType DType::with_scalar(ScalarType scalar) const {
    switch (kind()) {
        case TypeKind::Scalar: return scalar;
        case TypeKind::Complex: return complex(scalar);
        case TypeKind::Vector: return vector(scalar, static_cast<unsigned>(count()));
        case TypeKind::Matrix: return matrix(scalar, columns(), rows());
        default:
            throw ArgumentError(cat(name(), " has no component type to replace"), "DType::with_scalar",
                                "call it on scalars, complex numbers, vectors and matrices");
    }
}

const std::string& DType::name() const noexcept {
    static const std::string void_name = "void";
    return info_ ? info_->name : void_name;
}

}  // namespace volley
