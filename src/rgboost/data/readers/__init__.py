"""Files of data: CSV, Parquet and LIBSVM, also compressed (.gz, .bz2, .xz).

`read_table` reads a whole file, `iter_tables` in batches of rows. Every fault of a file is a
`DataError` that says where it is and what to do.
"""

from .csv_file import CsvOptions
from .errors import DataError
from .libsvm_file import LibsvmOptions
from .parquet_file import ParquetOptions
from .read import detect_format, iter_tables, read_table
from .table import Table

__all__ = [
    "CsvOptions",
    "DataError",
    "LibsvmOptions",
    "ParquetOptions",
    "Table",
    "detect_format",
    "iter_tables",
    "read_table",
]
