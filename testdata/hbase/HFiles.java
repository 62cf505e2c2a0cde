import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.hfile.*;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.util.BloomContext;
import org.apache.hadoop.hbase.util.BloomFilterFactory;
import org.apache.hadoop.hbase.util.BloomFilterUtil;
import org.apache.hadoop.hbase.util.BloomFilterWriter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;
import org.apache.hadoop.hbase.util.RowBloomContext;
import org.apache.hadoop.hbase.util.RowPrefixFixedLengthBloomContext;

/**
 * Writes HFiles with HBase's own writer: HFiles (FILE BLOCK_BYTES INDEX_BYTES TIMESTAMP CREATED_MS BLOOM_TYPE
 * PREFIX_BYTES ERROR_RATE)..., rows of each file on standard input as u16 length, row, u32 length, value, with a
 * length of 0 behind its last row. Its output is what ours has to equal, byte for byte.
 *
 * HFiles read FILE... has HBase's tool check files: -v looks, -k checks the order of keys, -a one family, -m and -s
 * print what it found. A line "file PATH" stands in front of each.
 */
public class HFiles {
  public static void main(String[] a) throws Exception {
    if (a[0].equals("read")) {
      for (int i = 1; i < a.length; i++) {
        System.out.println("file " + a[i]);
        HFilePrettyPrinter tool = new HFilePrettyPrinter(HBaseConfiguration.create());
        if (tool.run(new String[] {"-m", "-v", "-k", "-a", "-s", "-f", "file://" + a[i]}) != 0)
          throw new Exception(a[i]);
      }
      return;
    }
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 20))) {
      for (int i = 0; i < a.length; i += 8)
        write(Arrays.copyOfRange(a, i, i + 8), in);
    }
  }

  static void write(String[] a, DataInputStream in) throws Exception {
    Configuration conf = new Configuration();
    conf.setInt("hfile.index.block.max.size", Integer.parseInt(a[2]));
    conf.set(BloomFilterFactory.IO_STOREFILE_BLOOM_ERROR_RATE, a[7]);
    conf.set(BloomFilterUtil.PREFIX_LENGTH_KEY, a[6]);
    BloomType type = BloomType.valueOf(a[5]);
    long stamp = Long.parseLong(a[3]), made = Long.parseLong(a[4]);
    HFileContext context = new HFileContextBuilder().withBlockSize(Integer.parseInt(a[1])).withIncludesMvcc(true)
      .withIncludesTags(false).withCompression(Compression.Algorithm.NONE).withChecksumType(ChecksumType.CRC32C)
      .withBytesPerCheckSum(16384).withCreateTime(made).withHBaseCheckSum(true).build();
    FileSystem fs = FileSystem.getLocal(conf).getRaw();
    try (HFile.Writer w = HFile.getWriterFactoryNoCache(conf).withPath(fs, new Path(a[0])).withFileContext(context).create()) {
      BloomFilterWriter bloom = BloomFilterFactory.createGeneralBloomAtWrite(conf, CacheConfig.DISABLED, type, 0, w);
      BloomContext keys = bloom == null ? null : type == BloomType.ROW ? new RowBloomContext(bloom, context.getCellComparator())
        : new RowPrefixFixedLengthBloomContext(bloom, context.getCellComparator(), Integer.parseInt(a[6]));
      for (int n; (n = in.readUnsignedShort()) > 0;) {
        byte[] row = new byte[n];
        in.readFully(row);
        byte[] value = new byte[in.readInt()];
        in.readFully(value);
        KeyValue cell = new KeyValue(row, Bytes.toBytes("b"), Bytes.toBytes("v"), stamp, value);
        if (bloom != null)
          keys.writeBloom(cell);
        w.append(cell);
      }
      if (bloom != null) { // as StoreFileWriter closes
        w.addGeneralBloomFilter(bloom);
        w.appendFileInfo(HStoreFile.BLOOM_FILTER_TYPE_KEY, Bytes.toBytes(type.toString()));
        byte[] param = BloomFilterUtil.getBloomFilterParam(type, conf);
        if (param != null)
          w.appendFileInfo(HStoreFile.BLOOM_FILTER_PARAM_KEY, param);
        keys.addLastBloomKey(w);
      }
      w.appendFileInfo(HStoreFile.DELETE_FAMILY_COUNT, Bytes.toBytes(0L));
      w.appendFileInfo(Bytes.toBytes("BULKLOAD_TIMESTAMP"), Bytes.toBytes(made));
      w.appendFileInfo(Bytes.toBytes("EARLIEST_PUT_TS"), Bytes.toBytes(stamp));
      w.appendFileInfo(Bytes.toBytes("EXCLUDE_FROM_MINOR_COMPACTION"), Bytes.toBytes(false));
      w.appendFileInfo(Bytes.toBytes("MAJOR_COMPACTION_KEY"), Bytes.toBytes(true));
      w.appendFileInfo(Bytes.toBytes("TIMERANGE"), Bytes.add(Bytes.toBytes(stamp), Bytes.toBytes(stamp)));
    }
  }
}
