// Hashes the regions in execution order and renumbers values as it meets them. Constants are hashed at their
// uses, by type and bits, so that neither their position nor their number matters.
#include "ir/hash.hpp"

#include "ir/foreign.hpp"

#include <unordered_map>

namespace volley::ir {
namespace {

// Operations are hashed by mnemonic, so that a new row in the table changes no kernel's hash.
constexpr std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return h;
}

constexpr std::uint64_t op_words[] = {
#define VOLLEY_IR_WORD(name, text, form) fnv1a(text),
    VOLLEY_IR_OPS(VOLLEY_IR_WORD)
#undef VOLLEY_IR_WORD
};

enum class Tag : std::uint8_t { Value, Constant, Open, Close };

class FunctionHasher {
public:
    explicit FunctionHasher(const Function& fn) : fn_(fn), numbers_(fn.nodes.size(), none) {}

    Hash128 run() {
        hasher_.add(std::string_view("volley ir 1"));
        hasher_.add(std::string_view(fn_.name));
        hasher_.add(fn_.local_size.has_value());
        if (fn_.local_size) {
            for (const std::uint32_t extent : *fn_.local_size) hasher_.add(extent);
        }
        hasher_.add(fn_.params.size());
        // Parameters are numbered by index, whether or not they are used and wherever their nodes are.
        for (const Param& param : fn_.params) {
            hasher_.add(param.kind, param.read_only);
            add_type(param.type);
            if (param.rank != 0 || param.is_layout()) hasher_.add(param.rank, param.buffer, param.axis);
            if (param.node < numbers_.size()) numbers_[param.node] = next_;
            ++next_;
        }
        add_region(fn_.body);
        if (fn_.foreign) add_foreign(*fn_.foreign);
        return hasher_.digest();
    }

private:
    void add_foreign(const ForeignCode& code) {
        hasher_.add(code.language, code.words.size());
        for (const std::uint32_t word : code.words) hasher_.add(word);
        hasher_.add(std::string_view(code.text));
        hasher_.add(std::string_view(code.entry));
        hasher_.add(std::string_view(code.options));
    }

    void add_region(RegionId region) {
        hasher_.add(Tag::Open);
        for (const NodeId id : fn_.nodes_of(region)) {
            const Op op = fn_[id].op;
            if (op != Op::Const && op != Op::Param && op != Op::Buffer) add_node(id);
        }
        hasher_.add(Tag::Close);
    }

    void add_node(NodeId id) {
        const Node& node = fn_[id];
        numbers_[id] = next_++;
        hasher_.add(op_words[static_cast<unsigned>(node.op)]);
        add_type(node.type);
        if (node.op == Op::Print) {
            hasher_.add(std::string_view(fn_.strings[node.imm]));
        } else {
            hasher_.add(node.imm);
        }
        hasher_.add(node.count);
        for (const NodeId operand : fn_.args(id)) {
            if (fn_.is_constant(operand)) {
                hasher_.add(Tag::Constant, fn_.type(operand).scalar(), fn_[operand].imm);
            } else {
                hasher_.add(Tag::Value, numbers_[operand]);
            }
        }
        for (const RegionId inner : node.regions) {
            if (inner != none) add_region(inner);
        }
    }

    void add_type(DType type) { hasher_.add(type_digest(type)); }

    // Cached: walking nested structs again for every use could take exponential time.
    Hash128 type_digest(DType type) {
        const auto found = types_.find(type.info());
        if (found != types_.end()) return found->second;
        Hasher h;
        h.add(type.kind(), type.size(), type.align(), type.count());
        switch (type.kind()) {
            case TypeKind::Void: break;
            case TypeKind::Scalar:
            case TypeKind::Complex:
            case TypeKind::Vector:
            case TypeKind::Matrix: h.add(type.scalar(), type.rows()); break;
            case TypeKind::Array:
                if (type.count() != 0) h.add(type_digest(type.part(0)));
                break;
            case TypeKind::Struct:
                h.add(type.struct_name());
                for (const StructField& field : type.fields()) {
                    h.add(std::string_view(field.name));
                    h.add(field.offset);
                    h.add(type_digest(field.type));
                }
                break;
        }
        return types_[type.info()] = h.digest();
    }

    const Function& fn_;
    Hasher hasher_;
    std::vector<std::uint32_t> numbers_;
    std::uint32_t next_ = 0;
    std::unordered_map<const TypeInfo*, Hash128> types_;
};

}  // namespace

Hash128 hash(const Function& fn) { return FunctionHasher(fn).run(); }

}  // namespace volley::ir
