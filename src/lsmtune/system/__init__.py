"""The machine: processes, work directories, locks and facts about the host.

This room is the only place that starts processes, deletes directories and reads the machine.
It knows nothing of engines, studies or knobs, and imports nothing of lsmtune but its errors.
"""
