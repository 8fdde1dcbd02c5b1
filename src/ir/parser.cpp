// A recursive-descent parser. The nesting of regions and types is limited, so that no text can exhaust the
// stack. The parser reports errors in names, scopes and types with their position in the text; the verifier
// checks the result.
#include "ir/parser.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/literal.hpp"
#include "ir/syntax.hpp"
#include "ir/typing.hpp"
#include "ir/verifier.hpp"

#include <volley/error.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

namespace volley::ir {
namespace {

constexpr std::size_t max_text = std::size_t{1} << 28;
constexpr std::size_t max_name = 1024;  // of a struct or field; limited because types are never freed
constexpr std::uint64_t max_struct_size = std::uint64_t{1} << 48;

class Parser {
public:
    explicit Parser(std::string_view text) : lexer_(text) {}

    Function run() {
        advance();
        while (is_word("struct")) parse_struct();
        parse_kernel();
        if (token_.kind != TokenKind::End) unexpected("the end of the text");
        verify(fn_);
        return std::move(fn_);
    }

private:
    struct Scope {
        RegionId region = 0;
        std::vector<std::string_view> names;  // defined in this scope, removed at its end
        std::unordered_map<std::uint32_t, NodeId> path_constants;  // literal numbers in paths
        bool jumped = false;
    };

    // A type and its nesting depth.
    struct NestedType {
        DType type;
        unsigned depth = 0;
    };

    // Tokens

    void advance() {
        last_line_ = token_.line;
        token_ = lexer_.next();
    }

    [[noreturn]] void unexpected(std::string_view expected) const {
        fail_at(token_.line, token_.column,
                token_.kind == TokenKind::End ? std::string("the text ends unexpectedly")
                                              : cat("'", token_.text.substr(0, 40), "' is unexpected"),
                cat("write ", expected));
    }

    [[nodiscard]] bool is_mark(char c) const { return token_.kind == TokenKind::Mark && token_.text[0] == c; }
    [[nodiscard]] bool is_word(std::string_view w) const {
        return token_.kind == TokenKind::Word && token_.text == w;
    }

    bool accept_mark(char c) {
        if (!is_mark(c)) return false;
        advance();
        return true;
    }
    bool accept_word(std::string_view w) {
        if (!is_word(w)) return false;
        advance();
        return true;
    }
    void need_mark(char c) {
        if (!accept_mark(c)) unexpected(cat("'", c, "'"));
    }
    void need_word(std::string_view w) {
        if (!accept_word(w)) unexpected(cat("'", w, "'"));
    }

    std::string_view need(TokenKind kind, std::string_view expected) {
        if (token_.kind != kind) unexpected(expected);
        const std::string_view text = token_.text;
        advance();
        return text;
    }

    template <class I>
    I need_integer(std::string_view expected, I limit = std::numeric_limits<I>::max()) {
        if (token_.kind != TokenKind::Number) unexpected(expected);
        I value{};
        const char* const end = token_.text.data() + token_.text.size();
        const auto result = std::from_chars(token_.text.data(), end, value);
        if (result.ec != std::errc() || result.ptr != end || value > limit) unexpected(expected);
        advance();
        return value;
    }

    std::string need_string(std::string_view expected) {
        if (token_.kind != TokenKind::String) unexpected(expected);
        std::optional<std::string> text = unquote(token_.text);
        if (!text) unexpected("the escapes \\\" \\\\ \\n \\t \\r or \\xNN");
        advance();
        return *std::move(text);
    }

    // Calls f, and adds the position of a token to errors that it throws.
    template <class F>
    auto at(const Token& place, F&& f) {
        try {
            return f();
        } catch (const ArgumentError& e) {
            fail_at(place.line, place.column, e.what_failed(), e.advice());
        } catch (const IrError& e) {
            fail_at(place.line, place.column, e.what_failed(), e.advice());
        }
    }

    // Types

    DType parse_type() { return parse_nested_type(0).type; }

    NestedType parse_nested_type(unsigned depth) {
        const Token place = token_;
        if (depth > max_type_nesting) {
            fail_at(place.line, place.column, cat("types nest deeper than ", max_type_nesting),
                    "flatten them");
        }
        const std::string_view word = need(TokenKind::Word, "a type");
        if (!is_type_word(word)) {
            const auto found = structs_.find(word);
            if (found == structs_.end()) {
                fail_at(place.line, place.column, cat("the type '", word.substr(0, 40), "' is unknown"),
                        "declare the struct before using it");
            }
            return found->second;
        }
        if (word == "array") return parse_array(place, depth);
        if (const std::optional<ScalarType> scalar = scalar_from(word)) return {*scalar};
        if (word == "void") fail_at(place.line, place.column, "'void' has no values", "use another type");
        need_mark('<');
        const std::optional<ScalarType> part = scalar_from(need(TokenKind::Word, "a scalar type"));
        if (!part)
            fail_at(place.line, place.column, cat("the parts of ", word, " are not scalars"),
                    "name a scalar type");
        need_mark('>');
        return at(place, [&]() -> NestedType {
            const auto digit = [&](std::size_t i) { return static_cast<unsigned>(word[i] - '0'); };
            if (word == "complex") return {DType::complex(*part)};
            if (word.starts_with("vec")) return {DType::vector(*part, digit(3))};
            return {DType::matrix(*part, digit(3), digit(5))};
        });
    }

    NestedType parse_array(const Token& place, unsigned depth) {
        need_mark('<');
        const NestedType element = parse_nested_type(depth + 1);
        need_mark(',');
        const auto count = need_integer<std::uint64_t>("the number of elements");
        need_mark('>');
        check_depth(place, element.depth + 1);
        return at(place, [&]() -> NestedType {
            return {DType::array(element.type, count), element.depth + 1};
        });
    }

    static void check_depth(const Token& place, unsigned depth) {
        if (depth > max_type_nesting) {
            fail_at(place.line, place.column, cat("types nest deeper than ", max_type_nesting),
                    "flatten them");
        }
    }

    static std::optional<ScalarType> scalar_from(std::string_view word) {
        for (unsigned s = 0; s <= static_cast<unsigned>(ScalarType::F64); ++s) {
            if (word == name_of(static_cast<ScalarType>(s))) return static_cast<ScalarType>(s);
        }
        return std::nullopt;
    }

    void parse_struct() {
        need_word("struct");
        const Token place = token_;
        const std::string_view label = need(TokenKind::Word, "a name for the struct");
        std::string name(label);
        if (token_.kind == TokenKind::String) name = need_string("the struct's name");
        need_word("size");
        const auto size =
            need_integer<std::uint64_t>("the struct's size in bytes, at most 2^48", max_struct_size);
        need_word("align");
        const auto align = need_integer<std::uint64_t>("a power of two up to 4096", 4096);
        need_mark('{');
        std::vector<StructField> fields;
        unsigned depth = 0;
        while (!accept_mark('}')) {
            StructField& field = fields.emplace_back();
            const Token field_place = token_;
            field.name = token_.kind == TokenKind::String
                             ? need_string("a field")
                             : std::string(need(TokenKind::Word, "a field or '}'"));
            need_mark(':');
            const NestedType type = parse_nested_type(1);
            need_mark('@');
            field.type = type.type;
            field.offset = need_integer<std::uint64_t>("an offset within the struct", size);
            depth = std::max(depth, type.depth + 1);
            check_depth(field_place, depth);
            check_name(field_place, field.name);
            end_line();
        }
        check_name(place, name);
        if (is_type_word(label) || structs_.contains(label)) {
            fail_at(place.line, place.column, cat("the name '", label.substr(0, 40), "' is already in use"),
                    "use another name");
        }
        if (align == 0 || (align & (align - 1)) != 0) {
            fail_at(place.line, place.column, "the alignment is not a power of two",
                    "use the host's alignment");
        }
        structs_[label] = at(place, [&]() -> NestedType {
            return {DType::structure(name, fields, size, align), depth};
        });
    }

    static void check_name(const Token& place, std::string_view name) {
        if (name.size() > max_name) {
            fail_at(place.line, place.column, cat("a name of ", name.size(), " bytes is too long"),
                    cat("use at most ", max_name, " bytes"));
        }
    }

    // The kernel

    void parse_kernel() {
        need_word("kernel");
        fn_.name = need_string("the kernel's name in quotes");
        if (accept_word("local")) {
            Dim3 local{};
            need_mark('(');
            for (unsigned i = 0; i < 3; ++i) {
                if (i != 0) need_mark(',');
                local[i] = need_integer<std::uint32_t>("an extent of the local size");
            }
            need_mark(')');
            fn_.local_size = local;
        }
        need_mark('{');
        parse_region(fn_.body, none, {});
    }

    // Parses the operations up to and including the closing brace. The name of a for is its index in the
    // body.
    void parse_region(RegionId region, NodeId index, std::string_view index_name) {
        if (scopes_.size() > max_nesting) {
            fail_at(token_.line, token_.column, cat("regions nest deeper than ", max_nesting),
                    "split the kernel");
        }
        scopes_.emplace_back().region = region;
        if (!index_name.empty()) define(index_name, index, token_);
        while (!accept_mark('}')) parse_operation();
        for (const std::string_view name : scopes_.back().names) values_.erase(name);
        scopes_.pop_back();
    }

    void define(std::string_view name, NodeId id, const Token& place) {
        if (!values_.emplace(name, id).second) {
            fail_at(place.line, place.column, cat("the value %", name.substr(0, 40), " is defined twice"),
                    "use another name");
        }
        scopes_.back().names.push_back(name);
    }

    NodeId append(NodeId id) {
        fn_.regions[scopes_.back().region].nodes.push_back(id);
        return id;
    }

    // Checks that the operation ends with its line, or before the closing brace of its region. Returns the
    // trailing comment.
    std::string_view end_line() {
        const bool ends = token_.kind == TokenKind::End || is_mark('}') || token_.line > last_line_;
        if (!ends) unexpected("a new line");
        return token_.comment;
    }

    // Parses file.cpp:12 or "quoted file":12; other comments are not locations.
    Loc parse_loc(std::string_view comment) {
        const std::size_t colon = comment.rfind(':');
        if (colon == std::string_view::npos) return {};
        Loc loc;
        const std::string_view digits = comment.substr(colon + 1);
        const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), loc.line);
        if (result.ec != std::errc() || result.ptr != digits.data() + digits.size() || loc.line == 0)
            return {};
        std::string file(comment.substr(0, colon));
        if (file.empty()) return {};
        if (file[0] == '"') {
            std::optional<std::string> plain = unquote(file);
            if (!plain) return {};
            file = *std::move(plain);
        }
        loc.file = intern(files_, fn_.files, file);
        return loc;
    }

    static std::uint32_t intern(std::unordered_map<std::string, std::uint32_t>& map,
                                std::vector<std::string>& table, const std::string& text) {
        const auto [found, is_new] = map.emplace(text, static_cast<std::uint32_t>(table.size()));
        if (is_new) table.push_back(text);
        return found->second;
    }

    // Operations

    void parse_operation() {
        if (scopes_.back().jumped) unexpected("'}': code that follows a jump never runs");
        const Token place = token_;
        std::string_view name;
        if (token_.kind == TokenKind::Value) {
            name = token_.text;
            advance();
            need_mark('=');
        }
        op_place_ = token_;
        const std::string_view word = need(TokenKind::Word, "an operation or '}'");
        const std::optional<Op> op = op_from_mnemonic(word);
        if (!op) {
            fail_at(op_place_.line, op_place_.column, cat("there is no operation '", word.substr(0, 40), "'"),
                    "docs/ir.md lists the operations");
        }
        const NodeId id = parse_body(*op);
        if (!name.empty() && fn_.type(id).is_void()) {
            fail_at(place.line, place.column, cat("'", word, "' has no value to name"), "remove the name");
        }
        const bool block = *op == Op::If || *op == Op::For || *op == Op::Loop;
        if (block) {
            need_mark('{');
            fn_[id].loc = parse_loc(token_.comment);
            parse_inner(id, name);
            end_line();
        } else {
            fn_[id].loc = parse_loc(end_line());
            if (!name.empty()) define(name, id, place);
        }
        scopes_.back().jumped = form(*op) == Form::Jump;
    }

    void parse_inner(NodeId id, std::string_view name) {
        const RegionId body = fn_.add_region();
        fn_[id].regions[0] = body;
        parse_region(body, id, name);
        if (fn_[id].op != Op::If || !is_word("else")) return;
        advance();
        need_mark('{');
        const RegionId otherwise = fn_.add_region();
        fn_[id].regions[1] = otherwise;
        parse_region(otherwise, none, {});
    }

    // Parses the text between the mnemonic and the braces; creates and appends the node.
    NodeId parse_body(Op op) {
        switch (form(op)) {
            case Form::Constant: return parse_constant();
            case Form::Parameter: return parse_param(ParamKind::Const);
            case Form::Root:
                if (op == Op::Buffer) return parse_param(ParamKind::Buffer);
                return add(op, {}, parse_type());
            case Form::Sync: {
                std::uint64_t scope = 0;
                if (op == Op::Fence) {
                    const auto found = fence_scope_from(token_.kind == TokenKind::Word ? token_.text : "");
                    if (!found) unexpected("all, buffer, shared, image or group");
                    scope = static_cast<std::uint64_t>(*found);
                    advance();
                }
                return add(op, {}, {}, scope);
            }
            case Form::Print: {
                const std::string format = need_string("the format in quotes");
                std::vector<NodeId> operands;
                while (accept_mark(',')) operands.push_back(parse_value());
                return add(op, operands, {}, intern(strings_, fn_.strings, format));
            }
            case Form::Extract:
            case Form::Load:
            case Form::Store:
            case Form::Atomic:
            case Form::AtomicCas: return parse_access(op);
            default: {
                std::vector<NodeId> operands;
                if (token_.kind == TokenKind::Value && token_.line == last_line_) {
                    do operands.push_back(parse_value());
                    while (accept_mark(','));
                }
                return add(op, operands, parse_result());
            }
        }
    }

    // Parses the ": type" of operations that have a value.
    DType parse_result() { return accept_mark(':') ? parse_type() : DType(); }

    NodeId parse_value() {
        const Token place = token_;
        const std::string_view name = need(TokenKind::Value, "a value");
        const auto found = values_.find(name);
        if (found == values_.end()) {
            fail_at(place.line, place.column, cat("the value %", name.substr(0, 40), " is not defined here"),
                    "define it earlier, in this region or an enclosing one");
        }
        return found->second;
    }

    NodeId parse_constant() {
        const Token literal = token_;
        if (token_.kind != TokenKind::Number && token_.kind != TokenKind::Word)
            unexpected("a number, true or false");
        advance();
        need_mark(':');
        const DType type = parse_type();
        if (!type.is_scalar()) {
            fail_at(literal.line, literal.column, "constants are scalars", "construct composites from them");
        }
        const std::optional<std::uint64_t> bits = constant_bits(type.scalar(), literal.text);
        if (!bits) {
            fail_at(literal.line, literal.column,
                    cat("'", literal.text.substr(0, 40), "' is not a number of type ", type.name()),
                    "write a number that fits, or its bits as 0x...");
        }
        return add(Op::Const, {}, type, *bits);
    }

    NodeId parse_param(ParamKind kind) {
        if (scopes_.size() != 1) {
            fail_at(op_place_.line, op_place_.column, "a parameter is declared in a nested region",
                    "declare it in the body");
        }
        Param param;
        param.type = parse_type();
        param.name = need_string("the parameter's name in quotes");
        if (kind == ParamKind::Buffer) {
            param.read_only = accept_word("read_only");
            if (accept_word("rank")) param.rank = need_integer<std::uint32_t>("the number of dimensions");
        } else if (const bool extent = accept_word("extent"); extent || accept_word("stride")) {
            kind = extent ? ParamKind::Extent : ParamKind::Stride;
            need_mark('(');
            param.buffer = need_integer<std::uint32_t>("the index of a buffer parameter");
            need_mark(',');
            param.axis = need_integer<std::uint32_t>("an axis");
            need_mark(')');
        }
        param.kind = kind;
        param.node =
            add(kind == ParamKind::Buffer ? Op::Buffer : Op::Param, {}, param.type, fn_.params.size());
        fn_.params.push_back(param);
        return param.node;
    }

    NodeId parse_access(Op op) {
        std::vector<NodeId> operands = {parse_value()};
        std::vector<NodeId> path;
        if (accept_mark('[')) {
            do path.push_back(parse_step());
            while (accept_mark(','));
            need_mark(']');
        }
        for (unsigned k = 1; k < path_start(op); ++k) {
            need_mark(',');
            operands.push_back(parse_value());
        }
        operands.insert(operands.end(), path.begin(), path.end());
        return add(op, operands, parse_result());
    }

    NodeId parse_step() {
        if (token_.kind != TokenKind::Number) return parse_value();
        const auto number = need_integer<std::uint32_t>("a u32 or a value");
        const auto [found, is_new] = scopes_.back().path_constants.emplace(number, none);
        if (is_new) found->second = append(fn_.add(Op::Const, ScalarType::U32, {}, number));
        return found->second;
    }

    // Types and appends the node. The text must state the type of the value, if there is one.
    NodeId add(Op op, std::span<const NodeId> operands, DType stated, std::uint64_t imm = 0) {
        const DType type = at(op_place_, [&] {
            if (path_start(op) != 0) {
                const DType reached = access_type(fn_, op, operands);
                return op == Op::Store ? DType() : reached;
            }
            std::vector<DType> types;
            types.reserve(operands.size());
            for (const NodeId operand : operands) types.push_back(fn_.type(operand));
            return result_type(op, types, stated);
        });
        if (type != stated) {
            fail_at(op_place_.line, op_place_.column,
                    stated.is_void() ? cat("'", mnemonic(op), "' does not state its type")
                                     : cat("the result of '", mnemonic(op), "' is not ", stated.name()),
                    type.is_void() ? std::string("remove the type: the operation has no value")
                                   : cat("write : ", type.name()));
        }
        return append(fn_.add(op, type, operands, imm));
    }

    Lexer lexer_;
    Token token_;
    Token op_place_;
    std::uint32_t last_line_ = 0;
    Function fn_;
    std::vector<Scope> scopes_;
    std::unordered_map<std::string_view, NodeId> values_;
    std::unordered_map<std::string_view, NestedType> structs_;
    std::unordered_map<std::string, std::uint32_t> files_;
    std::unordered_map<std::string, std::uint32_t> strings_;
};

}  // namespace

Function parse(std::string_view text) {
    if (text.size() > max_text) {
        fail(ErrorCode::IrError, cat("a text of ", text.size(), " bytes is too long"), "IR text",
             cat("use at most ", max_text, " bytes"));
    }
    return Parser(text).run();
}

}  // namespace volley::ir
