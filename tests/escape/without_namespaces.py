"""The attempts where Landlock is alone (docs/launch.md, "Without namespaces"): what gets out is what a policy has
to accept by name, and without that acceptance nothing runs."""
from harness import ATTEMPTS, Mode

# What gets out, by the control that has to be accepted for it.
LETS_OUT = {
    "fs.deny": """
        read_a_denied_file read_in_a_denied_directory list_a_denied_directory read_a_denied_file_by_a_link
        read_a_denied_file_by_a_hard_link read_a_denied_file_by_its_new_name write_a_denied_file
        put_another_file_over_a_denied_one remove_a_denied_file exchange_a_denied_file_for_another
        change_the_mode_of_a_denied_file rename_the_directory_above_a_denied_file
        exchange_the_directory_above_a_denied_one read_where_a_denied_link_leads rewrite_the_policy
        put_another_policy_in_its_place remove_the_records_of_runs take_a_mask_away
    """,
    "fs.deny.pattern": "read_a_match_of_a_pattern",
    "fs.deny.missing": """
        make_a_denied_file_that_is_missing make_a_denied_directory_that_is_missing
        put_a_link_where_a_denied_file_is_missing write_a_directory_for_reading_in_the_workspace
    """,
    "fs.write": """
        change_the_mode_of_a_file_for_reading change_the_times_of_a_file_for_reading
        change_an_attribute_of_a_file_for_reading
    """,
    "fs.closed": """
        read_the_command_line_of_a_process_outside read_the_names_of_control_groups
        open_a_device_node_in_the_workspace
    """,
    "socket.path": "connect_to_a_unix_socket_while_they_are_open",
}
# There is no mask that the host could take away.
LEFT_OUT = "read_a_denied_file_that_the_host_has_replaced"
ACCEPTED = """fs.closed fs.write process.tree fs.deny fs.deny.pattern fs.deny.missing scratch socket.path
    ipc.abstract ipc.signal""".split()


def landlock(without=""):
    return Mode("landlock", accepted=[control for control in ACCEPTED if control != without])


def try_one(suite, one, control):
    """`control` is what it gets out by, or None."""
    suite.expect(one, landlock(), control is not None)
    if control:
        suite.expect(one, landlock(control), False)


def run(suite):
    controls = {name: control for control, names in LETS_OUT.items() for name in names.split()}
    for one in ATTEMPTS:
        if one.function.__name__ != LEFT_OUT and one.tried and (one.possible is None or one.possible()):
            suite.judge(one, lambda one: try_one(suite, one, controls.get(one.function.__name__)))
