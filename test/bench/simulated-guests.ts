/** What stands for many machines: a control socket and the socket of a guest agent, each of which takes any number of connections. */
import { createServer } from 'node:net'
import { speakQmp } from '../support/drivers/qmp-server.ts'

const [control, agent] = process.argv.slice(2)

/** A disk as QEMU 7.2 describes it. */
const disk = {
  device: '',
  'node-name': 'hdd0',
  qdev: '/machine/peripheral/hdd0/virtio-backend',
  stats: {
    ...{
      flush_total_time_ns: 1_302_144,
      wr_highest_offset: 338_231_296,
      wr_total_time_ns: 92_303_111,
      wr_bytes: 8_192,
    },
    ...{ failed_unmap_operations: 0, failed_rd_operations: 0, failed_wr_operations: 0, failed_flush_operations: 0 },
    ...{ invalid_rd_operations: 0, invalid_wr_operations: 0, invalid_flush_operations: 0, invalid_unmap_operations: 0 },
    ...{ account_invalid: true, account_failed: true, rd_total_time_ns: 88_120_002, rd_operations: 871, rd_merged: 0 },
    ...{ flush_operations: 7, wr_operations: 2, wr_merged: 0, unmap_bytes: 0, unmap_operations: 0, unmap_merged: 0 },
    ...{ unmap_total_time_ns: 0, rd_bytes: 18_345_984, idle_time_ns: 5_302_113_001, timed_stats: [] },
  },
}
const describeInterface = (name: string, mac: string, ip: string) => ({
  name,
  'hardware-address': mac,
  'ip-addresses': [{ 'ip-address-type': 'ipv4', 'ip-address': ip, prefix: 24 }],
  statistics: {
    ...{ 'tx-packets': 17, 'tx-errs': 0, 'rx-bytes': 4_711, 'rx-dropped': 0, 'rx-packets': 23, 'rx-errs': 0 },
    ...{ 'tx-bytes': 1_234, 'tx-dropped': 0 },
  },
})
const interfaces = [
  describeInterface('lo', '00:00:00:00:00:00', '127.0.0.1'),
  describeInterface('eth0', '52:54:00:00:00:01', '10.0.2.15'),
]

createServer(socket =>
  speakQmp(socket, (command, reply) => reply(command === 'query-blockstats' ? ([disk] as object) : {})),
).listen(control)

createServer(socket => {
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    const isSync = bytes[0] === 0xff
    const { id } =
      (JSON.parse(bytes.subarray(isSync ? 1 : 0).toString()) as { arguments?: { id: number } }).arguments ?? {}
    if (isSync) socket.write(Buffer.concat([Buffer.of(0xff), Buffer.from(`{"return": ${id}}\n`)]))
    else socket.write(`${JSON.stringify({ return: interfaces })}\n`)
  })
}).listen(agent, () => process.stdout.write('ready\n'))
