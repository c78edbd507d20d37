/* SPDX-License-Identifier: MIT */
/* The N-D array under the driver's datasets, without any of them. */
#include "array/array.h"
#include "array/attributes.h"
#include "store/open_store.h"

#include <atomic>
#include <cstring>
#include <future>
#include <random>
#include <thread>

#include "cpl_vsi.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

#include "cmocka_cpp.h"

extern "C" {
#include "support/wrappers.h"
}

using namespace zarr3;

static constexpr char kRoot[] = "/vsimem/array_test.zarr";
static constexpr zb_dtype kInt16 = {ZB_KIND_INT, 2, false, nullptr};
static constexpr zb_dtype kDouble = {ZB_KIND_FLOAT, 8, false, nullptr};

/* Empties the store for each test. */
static int set_up(void **) {
    VSIRmdirRecursive(kRoot);
    VSIMkdir(kRoot, 0777);
    Hierarchy hierarchy;
    zb_node *group = nullptr;
    assert_int_equal(open_store(kRoot, &hierarchy, nullptr, true), ZB_OK);
    assert_int_equal(zb_group_create(hierarchy.store.get(), "", nullptr, &group, nullptr), ZB_OK);
    zb_node_release(group);
    return 0;
}

static NewArray plan_of(std::vector<std::string> names, std::vector<uint64_t> shape,
                        std::vector<uint64_t> block) {
    NewArray plan;
    plan.names = std::move(names);
    plan.shape = std::move(shape);
    plan.block = std::move(block);
    plan.dtype = kInt16;
    plan.codecs = "[]";
    return plan;
}

static HierarchyPtr open_again() {
    Hierarchy hierarchy;
    assert_int_equal(open_store(kRoot, &hierarchy, nullptr), ZB_OK);
    return hierarchy.store;
}

/* As another program opens it. */
static Array open_array(const char *path = "a") {
    const HierarchyPtr store = open_again();
    const NodePtr node = open_node(store.get(), path, nullptr);
    assert_non_null(node.get());
    return Array(store, node);
}

static Array create_array(const NewArray &plan, const char *path = "a",
                          const char *attributes = "") {
    const HierarchyPtr store = open_again();
    NodePtr node;
    assert_int_equal(plan.create(store.get(), path, {}, attributes, &node, nullptr), ZB_OK);
    Array array(store, node);
    array.open_for_update({});
    return array;
}

static int16_t read_one(Array &array, std::vector<uint64_t> at) {
    int16_t value = -1;
    const std::vector<uint64_t> one(at.size(), 1);
    const std::vector<int64_t> strides(at.size(), 0);
    assert_int_equal(array.read({{{{at, one}, strides}, &value}}, kInt16, nullptr), ZB_OK);
    return value;
}

static void write_one(Array &array, std::vector<uint64_t> at, int16_t value) {
    const std::vector<uint64_t> one(at.size(), 1);
    const std::vector<int64_t> strides(at.size(), 0);
    assert_int_equal(array.write({{at, one}, strides}, &value, kInt16, nullptr), ZB_OK);
}

/* ---- Boxes ---- */

namespace {

constexpr size_t kRank = 3;
constexpr uint64_t kShape[kRank] = {5, 6, 7};

/* A box of the array and the places of its elements in a buffer, back to front along some
   dimensions. */
struct RandomBox {
    MemoryBox place;
    size_t elements = 1;
    size_t first = 0; /* the element of the buffer that the box's first one goes to */

    explicit RandomBox(std::mt19937 &random, size_t size) {
        int64_t stride = 1;
        for (size_t d = 0; d < kRank; d++) {
            place.box.start.push_back(random() % kShape[d]);
            place.box.count.push_back(1 + random() % (kShape[d] - place.box.start[d]));
        }
        place.strides.resize(kRank);
        for (size_t d = kRank; d-- > 0;) {
            const int64_t extent = static_cast<int64_t>(place.box.count[d]);
            const bool backwards = random() % 2 == 1;
            place.strides[d] = stride * static_cast<int64_t>(size) * (backwards ? -1 : 1);
            first += static_cast<size_t>(backwards ? stride * (extent - 1) : 0);
            stride *= extent;
        }
        elements = static_cast<size_t>(stride);
    }

    /* Calls fn(index in the array, index in the buffer) for each element. */
    template <class Fn> void each(size_t size, Fn fn) const {
        for (uint64_t i = 0; i < place.box.count[0]; i++) {
            for (uint64_t j = 0; j < place.box.count[1]; j++) {
                for (uint64_t k = 0; k < place.box.count[2]; k++) {
                    const uint64_t at[kRank] = {i, j, k};
                    uint64_t in_array = 0;
                    int64_t in_buffer = static_cast<int64_t>(first);
                    for (size_t d = 0; d < kRank; d++) {
                        in_array = in_array * kShape[d] + place.box.start[d] + at[d];
                        in_buffer += static_cast<int64_t>(at[d]) * place.strides[d] /
                                     static_cast<int64_t>(size);
                    }
                    fn(static_cast<size_t>(in_array), static_cast<size_t>(in_buffer));
                }
            }
        }
    }
};

} // namespace

/* Writes and reads by turns, several boxes in one read; the values that are read are always those
   that were written, whether they wait or are stored. */
static void boxes_hold_what_was_written(void **) {
    Array array = create_array(plan_of({"t", "y", "x"}, {5, 6, 7}, {2, 3, 4}));
    std::vector<int16_t> model(5 * 6 * 7, 0);
    std::mt19937 random(20261122);
    for (int round = 0; round < 300; round++) {
        const RandomBox box(random, sizeof(int16_t));
        std::vector<int16_t> data(box.elements);
        for (int16_t &value : data)
            value = static_cast<int16_t>(random());
        assert_int_equal(array.write(box.place, data.data() + box.first, kInt16, nullptr), ZB_OK);
        box.each(sizeof(int16_t),
                 [&](size_t in_array, size_t in_buffer) { model[in_array] = data[in_buffer]; });
        std::vector<RandomBox> boxes;
        std::vector<std::vector<double>> buffers;
        std::vector<BoxRead> reads;
        for (size_t i = 0; i < random() % 4; i++) {
            boxes.emplace_back(random, sizeof(double));
            buffers.emplace_back(boxes[i].elements);
        }
        for (size_t i = 0; i < boxes.size(); i++)
            reads.push_back({boxes[i].place, buffers[i].data() + boxes[i].first});
        assert_int_equal(array.read(reads, kDouble, nullptr), ZB_OK);
        for (size_t i = 0; i < boxes.size(); i++)
            boxes[i].each(sizeof(double), [&](size_t in_array, size_t in_buffer) {
                assert_true(buffers[i][in_buffer] == model[in_array]);
            });
    }
    assert_int_equal(array.flush(nullptr), ZB_OK);
    Array stored = open_array();
    for (uint64_t i = 0; i < model.size(); i++)
        assert_int_equal(read_one(stored, {i / 42, i / 7 % 6, i % 7}), model[i]);
    array.abandon();
}

static void scalars_are_boxes_too(void **) {
    Array array = create_array(plan_of({}, {}, {}));
    write_one(array, {}, 7);
    assert_int_equal(read_one(array, {}), 7);
}

/* ---- Waiting chunks ---- */

/* Reads store waiting chunks only where they touch them. */
static void reads_settle_their_own_chunks(void **) {
    Array array = create_array(plan_of({"y", "x"}, {8, 8}, {4, 4}));
    write_one(array, {0, 0}, 1);
    Array other = open_array();
    assert_int_equal(read_one(array, {0, 4}), 0); /* of another chunk */
    assert_false(array.is_mixed());
    assert_int_equal(read_one(other, {0, 0}), 0); /* still waits */
    assert_int_equal(read_one(array, {3, 3}), 0); /* of the same chunk, another element */
    assert_true(array.is_mixed());
    assert_int_equal(read_one(other, {0, 0}), 1);
    assert_int_equal(read_one(array, {0, 0}), 1);
}

static void flushing_stores_and_abandoning_forgets(void **) {
    Array array = create_array(plan_of({"y", "x"}, {8, 8}, {4, 4}));
    write_one(array, {0, 0}, 1);
    assert_int_equal(array.flush(nullptr), ZB_OK);
    write_one(array, {7, 7}, 2);
    array.abandon();
    assert_int_equal(read_one(array, {7, 7}), 0);
    Array other = open_array();
    assert_int_equal(read_one(other, {0, 0}), 1);
    assert_int_equal(read_one(other, {7, 7}), 0);
}

/* ---- Attributes, neighbours ---- */

static void changes_give_a_new_node(void **) {
    Array array = create_array(plan_of({"y", "x"}, {4, 4}, {4, 4}), "a", R"({"n":[1, 2],"s":"t"})");
    AttributeChanges same, changes;
    same.set("n", "[1,2]"); /* in another spelling */
    same.remove("absent");
    const zb_node *before = array.node();
    assert_int_equal(array.change_attributes(same, nullptr), ZB_OK);
    assert_ptr_equal(array.node(), before);
    changes.set("n", "3");
    changes.set("u", "\"K\"");
    changes.remove("s");
    assert_int_equal(array.change_attributes(changes, nullptr), ZB_OK);
    const Array other = open_array();
    for (const zb_node *node : {array.node(), other.node()}) {
        assert_true(attribute_number(node, "n") == 3);
        assert_string_equal(attribute_text(node, "u").c_str(), "K");
        assert_null(attribute(node, "s"));
    }
    /* All together, or none. */
    AttributeChanges wrong;
    wrong.set("a", "1");
    wrong.set("b", "no JSON");
    zb_error err;
    assert_int_not_equal(array.change_attributes(wrong, &err), ZB_OK);
    assert_null(attribute(array.node(), "a"));
    assert_null(attribute(open_array().node(), "a"));
}

static void writing_goes_on_after_a_change(void **) {
    Array array = create_array(plan_of({"y", "x"}, {4, 4}, {4, 4}));
    write_one(array, {0, 0}, 1);
    AttributeChanges changes;
    changes.set("n", "3");
    assert_int_equal(array.change_attributes(changes, nullptr), ZB_OK);
    write_one(array, {0, 1}, 2);
    assert_int_equal(read_one(array, {0, 0}), 1);
    assert_int_equal(read_one(array, {0, 1}), 2);
}

static void recreated_arrays_keep_their_attributes(void **) {
    NewArray plan = plan_of({"y", "x"}, {4, 4}, {4, 4});
    Array array = create_array(plan, "a", R"({"n":1})");
    const int16_t fill = -9;
    std::vector<unsigned char> element(sizeof fill);
    memcpy(element.data(), &fill, sizeof fill);
    plan.names = {"a_y", "a_x"};
    array.begin_fresh(plan, nullptr);
    assert_int_equal(array.recreate(element, nullptr), ZB_OK);
    assert_int_equal(read_one(array, {3, 3}), -9);
    assert_true(attribute_number(array.node(), "n") == 1);
    assert_string_equal(array.info()->dimension_names[1], "a_x");
    write_one(array, {0, 0}, 5);
    assert_int_equal(read_one(array, {0, 0}), 5);
}

static void coordinates_are_found_beside(void **) {
    Array array = create_array(plan_of({"y", "x"}, {4, 3}, {4, 3}));
    assert_null(array.coordinate(1).get());
    create_array(plan_of({"x"}, {3}, {3}), "x");
    create_array(plan_of({"y"}, {5}, {5}), "y"); /* of another extent */
    AttributeChanges changes;
    changes.set("n", "1"); /* after which the array looks around anew */
    assert_int_equal(array.change_attributes(changes, nullptr), ZB_OK);
    assert_string_equal(zb_node_path(array.coordinate(1).get()), "x");
    assert_null(array.coordinate(0).get());
    assert_string_equal(zb_node_path(array.around().group_above(1)), "");
    assert_string_equal(array.path().c_str(), "a");
}

/* What has been asked of an array is the caller's own, whatever happens to the array then. */
static void answers_outlive_a_move(void **) {
    Array array = create_array(plan_of({"y", "x"}, {4, 4}, {4, 4}));
    create_array(plan_of({"y", "x"}, {2, 2}, {2, 2}), "half");
    const HierarchyPtr store = open_again();
    const NodePtr group = open_node(store.get(), "", nullptr);
    const std::string conventions =
        std::string(R"([{"uuid":")") + zb_convention_uuid(ZB_CONVENTION_MULTISCALES) + R"("}])";
    const zb_attribute_edit edits[] = {
        {"multiscales", R"({"layout":[{"asset":"a"},{"asset":"half","derived_from":"a"}]})", false,
         nullptr},
        {"zarr_conventions", conventions.c_str(), false, nullptr}};
    zb_node *changed = nullptr;
    assert_int_equal(zb_node_set_attributes(group.get(), edits, 2, &changed, nullptr), ZB_OK);
    zb_node_release(changed);
    const Pyramid &before = array.pyramid();
    const NoData &nodata = array.nodata();
    assert_int_equal(before.levels.size(), 2);
    assert_int_equal(zb_node_move(store.get(), "a", "moved", nullptr), ZB_OK);
    assert_int_equal(array.move_to("moved", nullptr), ZB_OK);
    array.forget_set_nodata();
    assert_int_equal(before.levels.size(), 2);
    assert_string_equal(before.levels[1].c_str(), "half");
    assert_int_equal(nodata.kind, NoData::None);
    assert_true(array.pyramid().empty());
}

/* ---- Threads ---- */

static NoData nodata_of(double value) {
    return nodata_from_double(value, kInt16);
}

/* Set before the first write, in whichever order; the last one is the fill value. */
static void the_first_write_settles_a_new_array(void **) {
    const NewArray plan = plan_of({"y", "x"}, {4, 4}, {2, 2});
    Array array = create_array(plan);
    array.begin_fresh(plan, nullptr);
    array.set_nodata(nodata_of(5));
    assert_int_equal(array.prepare_read(nullptr), ZB_OK);
    assert_int_equal(read_one(array, {0, 0}), 5);
    array.set_nodata(nodata_of(-3));
    write_one(array, {0, 0}, 9);
    assert_false(array.is_fresh());
    array.set_nodata(nodata_of(8)); /* too late */
    assert_int_equal(array.settle_fresh(nullptr), ZB_OK);
    assert_int_equal(array.flush(nullptr), ZB_OK);
    Array stored = open_array();
    assert_int_equal(read_one(stored, {0, 0}), 9);
    assert_int_equal(read_one(stored, {3, 3}), -3);
}

static enum zb_code name_r_c(zb_hierarchy *, const std::string &, const Georeference &,
                             NewArray *plan, zb_error *) {
    plan->names = {"r", "c"};
    return ZB_OK;
}

/* Whichever call of the store fails while a new array is created once more, the next write settles
   it: with its nodata value, or as it was where that has been taken back meanwhile. */
static void expect_settled_after_fault(uint64_t nth, double then, bool *was_struck) {
    zb_store *fault = nullptr;
    zb_hierarchy *over = nullptr;
    const HierarchyPtr inner = open_again();
    assert_int_equal(zb_store_new_fault(zb_hierarchy_store(inner.get()), &fault, nullptr), ZB_OK);
    assert_int_equal(zb_hierarchy_over(fault, &over, nullptr), ZB_OK);
    const HierarchyPtr store(over, zb_hierarchy_release);
    const NewArray plan = plan_of({"y", "x"}, {4, 4}, {2, 2});
    NodePtr node;
    assert_int_equal(plan.create(store.get(), "a", {}, R"({"n":1})", &node, nullptr), ZB_OK);
    Array array(store, node);
    array.open_for_update({});
    array.begin_fresh(plan, name_r_c);
    array.set_nodata(nodata_of(5));
    zb_error err;
    zb_store_fault_set(zb_hierarchy_store(store.get()), nth);
    *was_struck = array.settle_fresh(&err) != ZB_OK;
    zb_store_fault_set(zb_hierarchy_store(store.get()), 0);
    array.set_nodata(nodata_of(then));
    assert_int_equal(array.prepare_read(&err), ZB_OK);
    assert_int_equal(read_one(array, {0, 0}), then);
    write_one(array, {0, 0}, 9);
    assert_false(array.is_fresh());
    assert_int_equal(array.flush(nullptr), ZB_OK);
    Array stored = open_array();
    assert_int_equal(read_one(stored, {0, 0}), 9);
    assert_int_equal(read_one(stored, {3, 3}), then);
    assert_true(attribute_number(stored.node(), "n") == 1);
    assert_string_equal(stored.info()->dimension_names[0], "r");
}

static void a_new_array_is_settled_after_a_failure(void **state) {
    for (const double then : {5.0, 0.0}) {
        uint64_t failures = 0;
        bool was_struck = true;
        for (uint64_t nth = 1; was_struck; nth++) {
            set_up(state);
            expect_settled_after_fault(nth, then, &was_struck);
            failures += was_struck;
        }
        assert_true(failures > 2);
    }
}

/* Which is chosen by itself, before the place names the dimensions. */
static void a_new_array_keeps_its_fill_value_of_text(void **) {
    NewArray plan = plan_of({"y", "x"}, {4, 4}, {2, 2});
    plan.dtype = {ZB_KIND_STRING, sizeof(zb_slice), false, nullptr};
    Array array = create_array(plan);
    array.begin_fresh(plan, name_r_c);
    {
        const std::string text = "none";
        const zb_slice slice = {text.data(), text.size()};
        std::vector<unsigned char> element(sizeof slice);
        memcpy(element.data(), &slice, sizeof slice);
        assert_int_equal(array.recreate(element, nullptr), ZB_OK);
    }
    assert_int_equal(array.keep(nullptr), ZB_OK);
    const Array stored = open_array();
    const auto *fill = static_cast<const zb_slice *>(stored.info()->fill_value);
    assert_string_equal(std::string(fill->data, fill->size).c_str(), "none");
    assert_string_equal(stored.info()->dimension_names[0], "r");
}

static std::atomic<int> named;
static std::promise<void> is_naming, may_name;

static enum zb_code name_behind_a_gate(zb_hierarchy *, const std::string &, const Georeference &,
                                       NewArray *plan, zb_error *) {
    if (++named == 1) {
        is_naming.set_value();
        may_name.get_future().wait();
    }
    plan->names = {"r", "c"};
    return ZB_OK;
}

/* Blocks of GDAL's cache are written by any thread: one settles the array, and others that write,
   or change attributes, come after it. Elements would go into an array that is deleted then. */
static void threads_settle_a_new_array_once(void **) {
    const NewArray plan = plan_of({"y", "x"}, {4, 4}, {2, 2});
    Array array = create_array(plan);
    array.begin_fresh(plan, name_behind_a_gate);
    std::thread first([&] { write_one(array, {0, 0}, 1); });
    is_naming.get_future().wait();
    std::atomic<bool> second_has_written{false};
    std::thread second([&] {
        write_one(array, {3, 3}, 2);
        second_has_written = true;
    });
    std::thread third([&] {
        AttributeChanges changes;
        changes.set("n", "1");
        assert_int_equal(array.change_attributes(changes, nullptr), ZB_OK);
    });
    assert_false(second_has_written);
    may_name.set_value();
    for (std::thread *thread : {&first, &second, &third})
        thread->join();
    assert_int_equal(named, 1);
    assert_int_equal(array.flush(nullptr), ZB_OK);
    Array stored = open_array();
    assert_int_equal(read_one(stored, {0, 0}), 1);
    assert_int_equal(read_one(stored, {3, 3}), 2);
    assert_true(attribute_number(stored.node(), "n") == 1);
    assert_string_equal(stored.info()->dimension_names[0], "r");
}

/* For the sanitizers: what a thread that writes uses is under the lock. */
static void writes_go_on_while_the_array_changes(void **) {
    const NewArray plan = plan_of({"y", "x"}, {4, 4}, {2, 2});
    Array array = create_array(plan);
    array.begin_fresh(plan, nullptr);
    std::thread writer([&] {
        for (int16_t i = 0; i < 200; i++)
            write_one(array, {0, 0}, i);
    });
    for (int i = 0; i < 50; i++) {
        AttributeChanges changes;
        changes.set("n", std::to_string(i));
        array.set_nodata(nodata_of(i));
        array.set_place({std::nullopt, GeoTransform{0, 1, 0, 0, 0, 1}});
        assert_int_equal(array.change_attributes(changes, nullptr), ZB_OK);
        assert_true(array.has_changed() || !array.drops_statistics());
    }
    writer.join();
    assert_int_equal(array.flush(nullptr), ZB_OK);
    Array stored = open_array();
    assert_int_equal(read_one(stored, {0, 0}), 199);
    assert_true(attribute_number(stored.node(), "n") == 49);
}

int main() {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(boxes_hold_what_was_written, set_up),
        cmocka_unit_test_setup(scalars_are_boxes_too, set_up),
        cmocka_unit_test_setup(reads_settle_their_own_chunks, set_up),
        cmocka_unit_test_setup(flushing_stores_and_abandoning_forgets, set_up),
        cmocka_unit_test_setup(changes_give_a_new_node, set_up),
        cmocka_unit_test_setup(writing_goes_on_after_a_change, set_up),
        cmocka_unit_test_setup(recreated_arrays_keep_their_attributes, set_up),
        cmocka_unit_test_setup(coordinates_are_found_beside, set_up),
        cmocka_unit_test_setup(answers_outlive_a_move, set_up),
        cmocka_unit_test_setup(the_first_write_settles_a_new_array, set_up),
        cmocka_unit_test_setup(a_new_array_is_settled_after_a_failure, set_up),
        cmocka_unit_test_setup(a_new_array_keeps_its_fill_value_of_text, set_up),
        cmocka_unit_test_setup(threads_settle_a_new_array_once, set_up),
        cmocka_unit_test_setup(writes_go_on_while_the_array_changes, set_up),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
