"""rgboost against its peers with stumps, on the same rows, threads, bins and number of stumps.

    make bench                                  # short set, less than five minutes
    make bench SET=full                         # full set
    RGBOOST_DATA=folder make bench              # with a9a and colon-cancer (see rgboost.data)
    make bench BENCH="--only rates --fresh"     # one case, once more

Figures, a table and plots are written to ``out/bench/short`` and ``out/bench/full``. Finished
cases are not run again unless ``--fresh``.

``data`` makes the rows, ``peers`` and ``ours`` fit and predict, ``measure`` times, ``cases`` says
what is compared, ``worker`` runs one case in a process of its own, ``goals``, ``report`` and
``plots`` show what came out, ``run`` is the command.
"""
