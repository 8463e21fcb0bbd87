/* gtest.h: as much of GoogleTest as ROOT's HistFactory tests use, for ROOT's interpreter.
 *
 * root_sources.py runs these tests to see the models that they make. So each fixture is set up once a
 * parameter. The bodies of its tests are left out: they fit. Tests without fixture run whole. Expectations
 * are not checked; assertions end a test. */
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "../record.h"

namespace paritas
{
using Work = std::function<void()>;

inline std::vector<std::pair<std::string, Work>> &tests()
{
    static std::vector<std::pair<std::string, Work>> all;
    return all;
}
struct Added {
    Added(std::string const &name, Work work) { tests().emplace_back(name, work); }
};
/* where tests write their messages */
struct Silence {
    template <class T> Silence const &operator<<(T const &) const { return *this; }
};
/* ends a test: `return Nothing() = Silence() << ..` */
struct Nothing {
    void operator=(Silence const &) const {}
};
template <class... T> bool unchecked(T &&...)
{
    return true;
}
} // namespace paritas

#define MakeModelAndMeasurementFast(measurement, ...) \
    MakeModelAndMeasurementFast(paritas::kept(measurement) __VA_OPT__(, ) __VA_ARGS__)
#define importJSONfromString(text) importJSONfromString(paritas::kept(text))
/* gone since ROOT 6.40 */
#define SetExportOnly(...) GetName()

namespace testing
{
class Test
{
  public:
    virtual ~Test() = default;
    virtual void SetUp() {}
    virtual void TearDown() {}
    static bool HasFailure() { return false; }
};
template <class T> class TestWithParam : public Test
{
  public:
    using ParamType = T;
    static T &parameter()
    {
        static T one;
        return one;
    }
    static T const &GetParam() { return parameter(); }
};
template <class T> struct TestParamInfo {
    T param;
    std::size_t index;
};
template <class... T> std::tuple<T...> Values(T... values)
{
    return {values...};
}
template <class... Lists> struct Combined {
    std::tuple<Lists...> lists;
};
template <class... Lists> Combined<Lists...> Combine(Lists... lists)
{
    return {{lists...}};
}
} // namespace testing

namespace paritas
{
template <class List, class Work> void each(List const &list, Work work)
{
    std::apply([&](auto const &...value) { (work(value), ...); }, list);
}
template <class Parameter, class... T, class Work>
void each_parameter(std::tuple<T...> const &values, Work work)
{
    each(values, [&](auto const &value) { work(Parameter{value}); });
}
/* each combination of the lists from the first-th on, after those chosen */
template <class Parameter, std::size_t first = 0, class... Lists, class Work, class... Chosen>
void each_parameter(testing::Combined<Lists...> const &all, Work work, Chosen... chosen)
{
    if constexpr (first == sizeof...(Lists))
        work(Parameter{chosen...});
    else
        each(std::get<first>(all.lists),
             [&](auto const &value) { each_parameter<Parameter, first + 1>(all, work, chosen..., value); });
}
template <class Fixture, class Lists> void add_fixture(std::string const &name, Lists const &lists)
{
    each_parameter<typename Fixture::ParamType>(lists, [&](auto const &parameter) {
        tests().emplace_back(name, [parameter] {
            Fixture::parameter() = parameter;
            Fixture fixture;
            fixture.SetUp();
            fixture.TearDown();
        });
    });
}
} // namespace paritas

#define TEST(suite, name)                                                           \
    static void suite##_##name();                                                   \
    static paritas::Added suite##_##name##_added{#suite "." #name, suite##_##name}; \
    static void suite##_##name()
#define TEST_P(fixture, name)           \
    struct fixture##_##name : fixture { \
        void body();                    \
    };                                  \
    inline void fixture##_##name::body()
#define INSTANTIATE_TEST_SUITE_P(prefix, fixture, lists, ...) \
    static int prefix##_##fixture##_added = (paritas::add_fixture<fixture>(#fixture, lists), 0)

#define PARITAS_EXPECTED(...) (void)paritas::unchecked(__VA_ARGS__), paritas::Silence()
#define PARITAS_ASSERTED(holds) \
    if (!(holds)) return paritas::Nothing() = paritas::Silence()
#define EXPECT_TRUE(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_FALSE(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_EQ(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_NE(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_GT(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_LT(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_NEAR(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_DOUBLE_EQ(...) PARITAS_EXPECTED(__VA_ARGS__)
#define EXPECT_STREQ(...) PARITAS_EXPECTED(__VA_ARGS__)
#define ASSERT_TRUE(...) PARITAS_ASSERTED(__VA_ARGS__)
#define ASSERT_FALSE(...) PARITAS_ASSERTED(!(__VA_ARGS__))
#define ASSERT_EQ(one, other) PARITAS_ASSERTED((one) == (other))
#define ASSERT_NE(one, other) PARITAS_ASSERTED((one) != (other))
#define ASSERT_GT(one, other) PARITAS_ASSERTED((one) > (other))
#define FAIL() return paritas::Nothing() = paritas::Silence()
#define SCOPED_TRACE(...) (void)0
