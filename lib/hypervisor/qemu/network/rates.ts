import * as z from 'zod'
import { runIp, runTc } from './host-commands.ts'
import { nameService, nameShaper, nameTap } from './names.ts'
import { removeInterface, type TapCard } from './taps.ts'

type Card = Pick<TapCard, 'machineId' | 'card'>

/** The fewest bytes that pass at once: more than the largest frame of a bridge has. */
const minBurst = 16_384

/** Describes a token bucket (tc-tbf(8)) of so many bytes per second. A packet that would wait longer than `latency` is dropped. */
const describeBucket = (rate: number): readonly string[] => {
  const burst = Math.max(minBurst, Math.ceil(rate / 10))
  return ['tbf', 'rate', `${rate}bps`, 'burst', String(burst), 'latency', '400ms']
}

const Queues = z.array(z.object({ kind: z.string() }))

/** Ends the limits of a tap in both directions. */
const freeTap = async (tap: string, shaper: string): Promise<void> => {
  const queues = Queues.parse(JSON.parse(await runTc('-json', 'qdisc', 'show', 'dev', tap)))
  const has = (kind: string): boolean => queues.some(queue => queue.kind === kind)
  if (has('tbf')) await runTc('qdisc', 'delete', 'dev', tap, 'root')
  if (has('ingress')) await runTc('qdisc', 'delete', 'dev', tap, 'ingress')
  await removeInterface(shaper)
}

/**
 * Limits what goes over the tap of a card to so many bytes per second in each direction; undefined ends that. Repeatable. Linux
 * queues only what leaves an interface, so what the guest sends goes through an interface of its own (`ifb`) and back. `folder`
 * is that of the networks of this service.
 */
export const limitTap = async (
  { machineId, card }: Card,
  { folder, rate }: { readonly folder: string; readonly rate: number | undefined },
): Promise<void> => {
  const [tap, shaper] = [nameTap(machineId, card), nameShaper(machineId, card)]
  await freeTap(tap, shaper)
  if (rate === undefined) return
  const bucket = describeBucket(rate)
  await runIp('link', 'add', 'name', shaper, 'type', 'ifb')
  await runIp('link', 'set', 'dev', shaper, 'alias', `${nameService(folder)} ${machineId} ${card}`, 'up')
  await runTc('qdisc', 'add', 'dev', shaper, 'root', ...bucket)
  await runTc('qdisc', 'add', 'dev', tap, 'root', ...bucket)
  await runTc('qdisc', 'add', 'dev', tap, 'ingress')
  const all = ['parent', 'ffff:', 'protocol', 'all', 'u32', 'match', 'u32', '0', '0']
  await runTc('filter', 'add', 'dev', tap, ...all, 'action', 'mirred', 'egress', 'redirect', 'dev', shaper)
}
