"""run.py [NAME ...] - the escape suite: see harness.py."""
import file_attempts  # noqa: F401
import harness
import kernel_attempts  # noqa: F401
import network_attempts  # noqa: F401
import process_attempts  # noqa: F401
import without_namespaces

harness.main(without_namespaces.landlock(), without_namespaces.run)
