import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.hfile.*;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;

/**
 * Writes an HFile with HBase's own writer: HFiles FILE BLOCK_BYTES INDEX_BYTES TIMESTAMP CREATED_MS, rows on standard
 * input as u16 length, row, u32 length, value. Its output is what ours has to equal, byte for byte.
 */
public class HFiles {
  public static void main(String[] a) throws Exception {
    Configuration conf = new Configuration();
    conf.setInt("hfile.index.block.max.size", Integer.parseInt(a[2]));
    long stamp = Long.parseLong(a[3]), made = Long.parseLong(a[4]);
    HFileContext context = new HFileContextBuilder().withBlockSize(Integer.parseInt(a[1])).withIncludesMvcc(true)
      .withIncludesTags(false).withCompression(Compression.Algorithm.NONE).withChecksumType(ChecksumType.CRC32C)
      .withBytesPerCheckSum(16384).withCreateTime(made).withHBaseCheckSum(true).build();
    FileSystem fs = FileSystem.getLocal(conf).getRaw();
    try (HFile.Writer w = HFile.getWriterFactoryNoCache(conf).withPath(fs, new Path(a[0])).withFileContext(context).create();
         DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 20))) {
      while (true) {
        byte[] row;
        try {
          row = new byte[in.readUnsignedShort()];
        } catch (EOFException end) {
          break;
        }
        in.readFully(row);
        byte[] value = new byte[in.readInt()];
        in.readFully(value);
        w.append(new KeyValue(row, Bytes.toBytes("b"), Bytes.toBytes("v"), stamp, value));
      }
      w.appendFileInfo(Bytes.toBytes("BULKLOAD_TIMESTAMP"), Bytes.toBytes(made));
      w.appendFileInfo(Bytes.toBytes("EARLIEST_PUT_TS"), Bytes.toBytes(stamp));
      w.appendFileInfo(Bytes.toBytes("EXCLUDE_FROM_MINOR_COMPACTION"), Bytes.toBytes(false));
      w.appendFileInfo(Bytes.toBytes("MAJOR_COMPACTION_KEY"), Bytes.toBytes(true));
      w.appendFileInfo(Bytes.toBytes("TIMERANGE"), Bytes.add(Bytes.toBytes(stamp), Bytes.toBytes(stamp)));
    }
  }
}
