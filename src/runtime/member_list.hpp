// Intrusive list with which an owner reaches its members: adding and removing allocate nothing.
#pragma once

namespace volley::runtime {

/// Links objects through T::before_ and T::after_; T declares this class a friend. Does not own the objects.
/// Not thread-safe.
template <class T>
class MemberList {
public:
    void add(T& member) noexcept {
        member.after_ = first_;
        if (first_ != nullptr) first_->before_ = &member;
        first_ = &member;
    }
    void remove(T& member) noexcept {
        if (member.before_ != nullptr) member.before_->after_ = member.after_;
        if (member.after_ != nullptr) member.after_->before_ = member.before_;
        if (first_ == &member) first_ = member.after_;
    }
    template <class F>
    void for_each(F&& f) const {
        for (T* member = first_; member != nullptr; member = member->after_) f(*member);
    }

private:
    T* first_ = nullptr;
};

}  // namespace volley::runtime
