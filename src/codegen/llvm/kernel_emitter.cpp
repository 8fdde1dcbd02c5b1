// The frame of a kernel: reads the work description and loops over rows, workgroups and chunks of W lanes.
#include "codegen/llvm/kernel_emitter.hpp"

#include "passes/effects.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;
using passes::LaneModel;
using passes::LaneShape;

ArgLayout layout_args(const ir::Function& fn) {
    ArgLayout layout;
    for (const ir::Param& p : fn.params) {
        layout.offsets.push_back(layout.size);
        const std::size_t size = p.kind == ir::ParamKind::Buffer ? sizeof(BufferArg) : p.type.size();
        layout.size += static_cast<std::uint32_t>((size + 15) / 16 * 16);
    }
    return layout;
}

bool is_flat(const ir::Function& fn) {
    bool flat = true;
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        const Op op = fn[id].op;
        switch (ir::form(op)) {
            case ir::Form::Builtin: flat = flat && (op == Op::GlobalId || op == Op::GlobalSize); break;
            case ir::Form::SubgroupFold:
            case ir::Form::SubgroupLane:
            case ir::Form::SubgroupVote:
            case ir::Form::Ballot:
            case ir::Form::Elect: flat = false; break;
            default: flat = flat && op != Op::Shared && op != Op::Barrier;
        }
    });
    return flat;
}

namespace {

/// Returns whether the kernel reads its y or z.
bool reads_rows(const ir::Function& fn) {
    bool reads = false;
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        for (const NodeId arg : fn.args(id)) {
            if (fn[arg].op != Op::GlobalId) continue;
            const bool first =
                fn[id].op == Op::Extract && fn[id].count == 2 && fn.constant_int(fn.arg(id, 1)) == 0;
            reads = reads || !first;
        }
    });
    return reads;
}

}  // namespace

LaneModel lane_model(const ir::Function& fn, const Variant& variant, unsigned width) {
    const LaneShape uniform{LaneShape::Uniform, 0, 1};
    const LaneShape varying{LaneShape::Varying, 0, 1};
    LaneModel model;
    model.width = width;
    // With the ids past the edge in a partial workgroup.
    if (!variant.huge) model.max_global_id = std::uint64_t{huge_extent} + 0xffff;
    const auto run = [](std::uint64_t align) { return LaneShape{LaneShape::Affine, 1, align}; };
    if (is_flat(fn)) {
        model.global_id[0] = run(width);
        model.global_id[1] = model.global_id[2] = uniform;
        model.local_id[0] = model.local_id[1] = model.local_id[2] = model.local_index = varying;
        return model;
    }
    model.local_index = run(width);
    const std::uint64_t group = std::uint64_t{variant.local[0]} * variant.local[1] * variant.local[2];
    model.max_local_id = (group + width - 1) / width * width - 1;
    const std::uint32_t lx = variant.local[0];
    const bool line = variant.local[1] == 1 && variant.local[2] == 1;
    if (line || lx % width == 0) {
        model.local_id[0] = run(width);
        model.global_id[0] = run(std::gcd(lx, width));
        model.local_id[1] = model.local_id[2] = model.global_id[1] = model.global_id[2] = uniform;
    } else {
        for (unsigned d = 0; d < 3; ++d) {
            const bool flat = variant.local[d] == 1;
            model.local_id[d] = flat ? uniform : varying;
            model.global_id[d] = flat ? uniform : varying;
        }
    }
    return model;
}

KernelEmitter::KernelEmitter(CodeBuilder& code, const ir::Function& fn, const Variant& variant)
    : c(code),
      fn_(fn),
      variant_(variant),
      flat_(is_flat(fn)),
      model_(lane_model(fn, variant, code.W)),
      lanes_(passes::analyse_lanes(fn, model_)),
      groups_(find_access_groups(fn, lanes_)),
      control_(plan_control(fn, [&](NodeId id) { return code.W == 1 || lanes_.lane_uniform(id); })),
      packed_(find_packed_stores(fn, control_.kills)),
      values_(fn.nodes.size()) {
    if (variant.streaming) streamed_ = passes::buffer_uses(fn).written_only();
    group_size_ = variant.local[0] * variant.local[1] * variant.local[2];
    chunks_ = (group_size_ + code.W - 1) / code.W;
    if (!passes::has_barrier(fn)) {
        find_interior();
        return;
    }
    segments_ = passes::split_barriers(fn, passes::analyse_uniformity(fn));
    std::vector<std::size_t> segment_of(fn.nodes.size(), 0);
    for (std::size_t i = 0; i < segments_->segments.size(); ++i) {
        for (const NodeId id : segments_->segments[i].nodes) segment_of[id] = i + 1;
    }
    groups_.dissolve_if([&](const AccessGroup& group) {
        return std::any_of(group.members.begin(), group.members.end(),
                           [&](NodeId id) { return segment_of[id] != segment_of[group.members[0]]; });
    });
}

void KernelEmitter::emit(const char* name) {
    Type parameter = c.ptr;
    c.function = c.L.AddFunction(c.module, name, c.L.FunctionType(c.void_t, &parameter, 1, 0));
    const auto attribute = [&](const char* key, const char* text) {
        const std::string_view k = key;
        const std::string_view t = text;
        c.L.AddAttributeAtIndex(c.function, LLVMAttributeFunctionIndex,
                                c.L.CreateStringAttribute(c.context, key, static_cast<unsigned>(k.size()),
                                                          text, static_cast<unsigned>(t.size())));
    };
    const auto enum_attribute = [&](std::string_view key, std::uint64_t v) {
        const unsigned kind = c.L.GetEnumAttributeKindForName(key.data(), key.size());
        c.L.AddAttributeAtIndex(c.function, LLVMAttributeFunctionIndex,
                                c.L.CreateEnumAttribute(c.context, kind, v));
    };
    enum_attribute("nounwind", 0);
    // On a stack that is only 16-byte aligned, vector spills cross cache lines and pages: up to twice as
    // slow.
    attribute("frame-pointer", "all");
    attribute("stackrealign", "");
    enum_attribute("alignstack", 64);
    if (c.isa.avx512) {
        // Also determines how vectors are passed to library functions.
        attribute("prefer-vector-width", "512");
        attribute("min-legal-vector-width", "512");
    }
    c.entry = c.block("entry");
    const Block start = c.block("start");
    c.at(start);
    load_work();
    place_shared();
    if (segments_) place_spills();
    live_ = c.slot(c.mask_type());
    declare_variables();
    parameters_ = values_;
    if (flat_) {
        emit_flat();
    } else {
        emit_grouped();
    }
    // Streaming stores are weakly ordered; they must be visible before completion is signalled.
    if (variant_.streaming && c.isa.x86) c.intrinsic("llvm.x86.sse.sfence", {}, {});
    c.L.BuildRetVoid(c.b);
    c.at(c.entry);
    c.br(start);
}

void KernelEmitter::load_work() {
    work_ = c.L.GetParam(c.function, 0);
    const auto field = [&](Type t, std::size_t offset) {
        return c.load(t, c.gep(work_, static_cast<std::int64_t>(offset)), t == c.i32 ? 4 : 8);
    };
    args_ = field(c.ptr, offsetof(Work, args));
    begin_ = field(c.i64, offsetof(Work, begin));
    end_ = field(c.i64, offsetof(Work, end));
    if (flat_) {
        row_begin_ = field(c.i64, offsetof(Work, row_begin));
        row_end_ = field(c.i64, offsetof(Work, row_end));
    }
    shared_ = field(c.ptr, offsetof(Work, shared));
    spill_ = field(c.ptr, offsetof(Work, spill));
    for (std::size_t d = 0; d < 3; ++d) {
        global_size_[d] = field(c.i32, offsetof(Work, global_size) + 4 * d);
        group_count_[d] = field(c.i32, offsetof(Work, group_count) + 4 * d);
    }
    const ArgLayout layout = layout_args(fn_);
    for (std::size_t k = 0; k < fn_.params.size(); ++k) {
        const ir::Param& p = fn_.params[k];
        const Val at = c.gep(args_, layout.offsets[k]);
        if (p.kind == ir::ParamKind::Buffer) {
            set(p.node,
                {Leaf::of_scalar(c.load(c.ptr, at, 16)), Leaf::of_scalar(c.load(c.i64, c.gep(at, 8), 8))});
        } else {
            LaneAddress whole;
            whole.base = at;
            whole.type = p.type;
            set(p.node, load_place(whole));
        }
    }
}

void KernelEmitter::place_shared() {
    std::uint64_t offset = 0;
    ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
        if (fn_[id].op != Op::Shared) return;
        set(id, {Leaf::of_scalar(c.gep(shared_, static_cast<std::int64_t>(offset)))});
        offset += ir::shared_slot_bytes(fn_.type(id).size());
    });
}

void KernelEmitter::counted_loop(Val begin, Val end, Val step, const char* name,
                                 const std::function<void(Val)>& body) {
    const Type t = c.L.TypeOf(begin);
    const Val counter = c.slot(t);
    c.store(begin, counter, 0);
    const Block head = c.block(name);
    const Block run = c.block("run");
    const Block done = c.block("done");
    c.br(c.icmp(LLVMIntULT, begin, end), head, done);
    c.at(head);
    const Val i = c.load(t, counter, 0);
    c.br(run);
    c.at(run);
    body(i);
    const Val next = c.add(i, step);
    c.store(next, counter, 0);
    c.br(c.icmp(LLVMIntULT, next, end), head, done);
    c.at(done);
}

void KernelEmitter::for_each_row(const std::function<void()>& body) {
    const bool reads = reads_rows(fn_);
    Val place[2] = {};  // of the row's y and z
    Val ny = nullptr;
    if (reads) {
        // Counts instead of dividing in each row, which takes as long as two vectors of a simple kernel.
        ny = c.select(c.icmp(LLVMIntEQ, global_size_[1], c.u32(0)), c.u32(1), global_size_[1]);
        const Val wide = c.zext(ny, c.i64);
        for (Val& one : place) one = c.slot(c.i32);
        c.store(c.trunc(c.L.BuildURem(c.b, row_begin_, wide, ""), c.i32), place[0], 0);
        c.store(c.trunc(c.L.BuildUDiv(c.b, row_begin_, wide, ""), c.i32), place[1], 0);
    }
    counted_loop(row_begin_, row_end_, c.u64(1), "rows", [&](Val /*row*/) {
        for (std::size_t d = 0; d < 2; ++d)
            global_id_[d + 1] = Leaf::of_scalar(reads ? c.load(c.i32, place[d], 0) : c.u32(0));
        body();
        if (!reads) return;
        const Val y = c.add(c.load(c.i32, place[0], 0), c.u32(1));
        const Val z = c.load(c.i32, place[1], 0);
        const Val wraps = c.icmp(LLVMIntEQ, y, ny);
        c.store(c.select(wraps, c.u32(0), y), place[0], 0);
        c.store(c.select(wraps, c.add(z, c.u32(1)), z), place[1], 0);
    });
}

void KernelEmitter::set_flat_ids(Val x) {
    const Val first = c.trunc(x, c.i32);
    global_id_[0] = c.W == 1 ? Leaf::of_scalar(first) : Leaf{first, c.add(c.splat(first), c.iota(c.i32))};
}

void KernelEmitter::emit_body(Val chunk_mask) {
    values_ = parameters_;
    masked_ = false;
    divergence_ = 0;
    chunk_end_ = c.block("chunk.end");
    if (chunk_mask != nullptr) set_mask(chunk_mask);
    emit_region(fn_.body);
    if (!c.terminated()) c.br(chunk_end_);
    c.at(chunk_end_);
    masked_ = false;
}

void KernelEmitter::emit_flat() {
    for_each_row([&] {
        const Val step = c.u64(c.W);
        const bool tail = !variant_.full && c.W > 1;
        // The end of the full vectors.
        const Val whole = tail ? c.and_(end_, c.u64(~std::uint64_t{c.W - 1})) : end_;
        counted_loop(begin_, whole, step, "chunks", [&](Val x) {
            set_flat_ids(x);
            emit_chunk(nullptr);
        });
        if (!tail) return;
        const Block partial = c.block("partial");
        const Block done = c.block("row.done");
        c.br(c.icmp(LLVMIntULT, whole, end_), partial, done);
        c.at(partial);
        set_flat_ids(whole);
        const Val count = c.trunc(c.sub(end_, whole), c.i32);
        emit_chunk(c.icmp(LLVMIntULT, c.iota(c.i32), c.splat(count)));
        c.br(done);
        c.at(done);
    });
}

void KernelEmitter::set_group_ids(Val group) {
    const Val nx = c.zext(group_count_[0], c.i64);
    const Val ny = c.zext(group_count_[1], c.i64);
    const Val rest = c.L.BuildUDiv(c.b, group, nx, "");
    group_id_[0] = c.trunc(c.L.BuildURem(c.b, group, nx, ""), c.i32);
    group_id_[1] = c.trunc(c.L.BuildURem(c.b, rest, ny, ""), c.i32);
    group_id_[2] = c.trunc(c.L.BuildUDiv(c.b, rest, ny, ""), c.i32);
    for (unsigned d = 0; d < 3; ++d) group_base_[d] = c.mul(group_id_[d], c.u32(variant_.local[d]));
}

void KernelEmitter::set_local_ids(Val first) {
    subgroup_id_ = c.L.BuildUDiv(c.b, first, c.u32(c.W), "");
    local_index_ = c.W == 1 ? Leaf::of_scalar(first) : Leaf{first, c.add(c.splat(first), c.iota(c.i32))};
    const std::uint32_t lx = variant_.local[0];
    const std::uint32_t ly = variant_.local[1];
    const auto split = [&](Val v, std::uint32_t by, bool remainder) {
        const Val n = c.c(c.L.TypeOf(v), by);
        return remainder ? c.L.BuildURem(c.b, v, n, "") : c.L.BuildUDiv(c.b, v, n, "");
    };
    const Val row = split(first, lx, false);
    const Val coordinates[3] = {split(first, lx, true), split(row, ly, true), split(row, ly, false)};
    const bool in_line = c.W == 1 || model_.local_id[0].kind == LaneShape::Affine;
    for (unsigned d = 0; d < 3; ++d) {
        Leaf& local = local_id_[d];
        Leaf& global = global_id_[d];
        if (in_line || model_.local_id[d].kind == LaneShape::Uniform) {
            local = Leaf::of_scalar(variant_.local[d] == 1 ? c.u32(0) : coordinates[d]);
            global = Leaf::of_scalar(c.add(group_base_[d], local.scalar));
            if (d == 0 && c.W > 1 && in_line) {
                local.lanes = c.add(c.splat(local.scalar), c.iota(c.i32));
                global.lanes = c.add(c.splat(global.scalar), c.iota(c.i32));
            }
        } else {
            const Val rows = split(local_index_.lanes, lx, false);
            local.scalar = nullptr;
            local.lanes = d == 0 ? split(local_index_.lanes, lx, true) : split(rows, ly, d == 1);
            global = Leaf::of_lanes(c.add(c.splat(group_base_[d]), local.lanes));
        }
    }
}

Val KernelEmitter::edge_mask() {
    Val inside = nullptr;
    if (group_size_ % c.W != 0) {
        inside = c.icmp(LLVMIntULT, local_index_.lanes, c.c(c.lanes(c.i32), group_size_));
    }
    if (!variant_.full) {
        for (unsigned d = 0; d < 3; ++d) {
            inside = c.both(inside, c.icmp(LLVMIntULT, lanes(global_id_[d]), c.splat(global_size_[d])));
        }
    }
    return inside;
}

void KernelEmitter::emit_grouped() {
    counted_loop(begin_, end_, c.u64(1), "groups", [&](Val group) {
        set_group_ids(group);
        if (segments_) {
            values_ = parameters_;
            chunk_end_ = c.block("group.end");
            emit_group_region(segments_->body);
            if (!c.terminated()) c.br(chunk_end_);
            c.at(chunk_end_);
            return;
        }
        // Full groups need no masks, except for a last chunk that the group does not fill.
        Val whole = nullptr;
        if (!variant_.full) {
            for (unsigned d = 0; d < 3; ++d) {
                const Val last = c.add(group_base_[d], c.u32(variant_.local[d] - 1));
                const Val fits = c.icmp(LLVMIntULT, last, global_size_[d]);
                whole = whole == nullptr ? fits : c.and_(whole, fits);
            }
        }
        counted_loop(c.u32(0), c.u32(group_size_), c.u32(c.W), "chunks", [&](Val first) {
            set_local_ids(first);
            if (c.W == 1) {
                if (variant_.full) {
                    emit_chunk(nullptr);
                    return;
                }
                Val inside = nullptr;
                for (unsigned d = 0; d < 3; ++d) {
                    inside = c.both(inside, c.icmp(LLVMIntULT, global_id_[d].scalar, global_size_[d]));
                }
                const Block run = c.block("inside");
                const Block skip = c.block("outside");
                c.br(inside, run, skip);
                c.at(run);
                emit_chunk(nullptr);
                c.br(skip);
                c.at(skip);
                return;
            }
            const bool ragged = group_size_ % c.W != 0;
            if (variant_.full && !ragged) {
                emit_chunk(nullptr);
                return;
            }
            const Block masked_run = c.block("edge");
            const Block end = c.block("chunk.done");
            if (group_size_ >= c.W) {
                const Block full_run = c.block("whole");
                Val unmasked = whole;
                if (ragged) {
                    const Val fits = c.icmp(LLVMIntULE, c.add(first, c.u32(c.W)), c.u32(group_size_));
                    unmasked = unmasked == nullptr ? fits : c.and_(unmasked, fits);
                }
                c.br(unmasked, full_run, masked_run);
                c.at(full_run);
                emit_chunk(nullptr);
                c.br(end);
            } else {
                c.br(masked_run);
            }
            c.at(masked_run);
            const Val inside = edge_mask();
            const Block some = c.block("edge.some");
            c.br(c.any(inside), some, end);
            c.at(some);
            emit_chunk(inside);
            c.br(end);
            c.at(end);
        });
    });
}

}  // namespace volley::codegen::llvm
