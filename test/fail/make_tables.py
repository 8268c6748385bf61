"""Writes the tables of this folder: small files, each wrong in one way. fail.test.ts says what each must be told.

    python make_tables.py        (needs pyarrow for the Parquet ones)
"""
import gzip
import io
import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

here = Path(__file__).parent

def write(name, data):
    (here / name).write_bytes(data.encode() if isinstance(data, str) else data)

good = "time,status,sex\n" + "".join(f"{k + 0.5},{k % 2},{'FM'[k % 2]}\n" for k in range(40))
write("empty.csv", "")
write("blank.csv", "\n\n\n")
write("header-only.csv", "time,status\n")
write("duplicate-header.csv", "time,status,time\n1,0,2\n")
write("empty-header.csv", '"","time","status"\n"1",4,1\n"2",9,0\n')  # R's write.csv with row names
write("ragged.csv", "time,status,sex\n1,0,F\n2,1\n3,0,M,extra\n4,1,M\n")
write("unquoted-comma.csv", "time,status,note\n1,0,pain, mild\n2,1,none\n")
write("blank-line-inside.csv", "time,status\n1,0\n\n2,1\n")
write("unterminated-quote.csv", 'time,status,note\n1,0,fine\n2,1,"went home\n3,0,fine\n')
write("text-after-quote.csv", 'time,status,note\n1,0,"said "no" twice"\n')
write("text-in-number.csv", good.replace("\n7.5,", "\nunknown,").replace("\n9.5,", "\n9.5 days,"))
write("infinity.csv", good.replace("\n7.5,", "\nInf,"))
write("latin1.csv", "time,städte\n1,Köln\n2,Bonn\n".encode("latin-1"))
write("latin1-cell.csv", "time,city\n1,Bonn\n2,Köln\n".encode("latin-1"))
write("utf16-without-mark.csv", "time,status\n1,0\n".encode("utf-16-le"))
write("utf16-cut.csv", ("\ufeff" + good).encode("utf-16-le")[:-1])
write("zero-byte.csv", good.replace("\n30.5,", "\n\0,"))
book = io.BytesIO()
with zipfile.ZipFile(book, "w") as archive:
    archive.writestr(zipfile.ZipInfo("xl/workbook.xml"), "<workbook/>")
write("workbook.csv", book.getvalue())
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
write("picture.csv", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
      + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))
write("document.csv", "%PDF-1.4\n%%EOF\n")
packed = gzip.compress(good.encode(), mtime=0)
write("truncated.csv.gz", packed[:-12])
write("damaged.csv.gz", packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:])
write("twice.csv.gz", gzip.compress(packed, mtime=0))

def parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()

whole = parquet(pa.table({"time": [1.0, 2.0, 3.0], "sex": ["F", "M", "F"]}))
write("truncated.parquet", whole[:-100])
write("hollow.parquet", whole[:4] + b"\xff" * 60 + whole[64:])
write("packed.parquet.gz", gzip.compress(whole, mtime=0))
write("nested.parquet", parquet(pa.table({"time": [1.0], "visits": pa.array([[1, 2]])})))
write("no-rows.parquet", parquet(pa.table({"time": pa.array([], pa.float64())})))
write("duplicate-header.parquet", parquet(pa.table([pa.array([1.0]), pa.array([2.0])], names=["time", "time"])))
