-- Perfetto's trace processor: one row for each frame of each sample of traced_perf, the innermost frame is 0. symlake
-- symbolicate --input answers the rows by artifact and address. For heapprofd, read heap_profile_allocation in place of perf_sample.
WITH RECURSIVE walk(sample, time, utid, frame, callsite) AS (
  SELECT id, ts, utid, 0, callsite_id FROM perf_sample WHERE callsite_id IS NOT NULL
  UNION ALL
  SELECT walk.sample, walk.time, walk.utid, walk.frame + 1, c.parent_id
  FROM walk JOIN stack_profile_callsite c ON c.id = walk.callsite
  WHERE c.parent_id IS NOT NULL
)
SELECT walk.sample, walk.time, p.name AS process, t.tid, t.name AS thread, walk.frame,
  m.build_id AS artifact, f.rel_pc AS address, 'stepped' AS frame0, m.name AS module, f.name AS known
FROM walk
JOIN stack_profile_callsite c ON c.id = walk.callsite
JOIN stack_profile_frame f ON f.id = c.frame_id
JOIN stack_profile_mapping m ON m.id = f.mapping
LEFT JOIN thread t ON t.utid = walk.utid
LEFT JOIN process p ON p.upid = t.upid
ORDER BY walk.sample, walk.frame;
