// Memory for the peers, equal to Volley's: aligned to huge pages, advised to use them, and first touched by
// all threads.
#pragma once

#include "worker_pool.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>

#include <sys/mman.h>

namespace volley::bench {

template <class T>
class HugeArray {
public:
    HugeArray(std::size_t size, T value) : size_(size) {
        constexpr std::size_t page = std::size_t{2} << 20;
        const std::size_t bytes = (size * sizeof(T) + page - 1) / page * page;
        data_ = static_cast<T*>(std::aligned_alloc(page, bytes));
        if (data_ == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
        ::madvise(data_, bytes, MADV_HUGEPAGE);
#endif
        workers().split(size, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) data_[i] = value;
        });
    }
    ~HugeArray() { std::free(data_); }
    HugeArray(const HugeArray&) = delete;
    HugeArray& operator=(const HugeArray&) = delete;

    [[nodiscard]] T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
    [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }
    [[nodiscard]] std::span<T> span() const noexcept { return {data_, size_}; }

private:
    T* data_ = nullptr;
    std::size_t size_;
};

}  // namespace volley::bench
