/** Descriptions of what calls of snapshots take and reply, for the OpenAPI document. */
export const snapshotGlossary: Readonly<Record<string, string>> = {
  snapshot_name: 'Name of the snapshot, unique among those of the machine, in any case',
  snapshot_description: 'Text for people',
  snapshot_id: 'UUID of the snapshot',
  'SnapshotList.snapshots': 'The snapshots of the machine, the oldest first, or the roots of their trees',
  'Snapshot.name': 'Name of the snapshot, unique among those of the machine, in any case',
  'SnapshotNode.name': 'Name of the snapshot, unique among those of the machine, in any case',
  'SnapshotNode.children':
    'With group=true: the snapshots that were made on top of this one; left out if there are none',
  'SnapshotSchedule.name': 'Name of the schedule, unique among those of the machine, in any case',
  'SnapshotSchedule.set_at': 'When it was set',
  'SnapshotScheduleList.schedules': 'The schedules of the machine, ordered by name',
}
