import type * as z from 'zod'
import { Autostart } from '#lib/hypervisor/machine-parts.ts'
import { RestartPolicy, toExpiry, Ttl } from '../create/lifecycle.ts'
import { labelSettings } from './labels.ts'
import {
  type Change,
  createNumberSchema,
  formatSwitch,
  parseValue,
  setMember,
  type Setting,
  type Settings,
  Switch,
  takeValuesAlone,
} from './setting.ts'

const changeExpiry = (expires_at: string | undefined): Change => ({
  field: 'expires_at',
  apply(definition) {
    const { expires_at: _, ...others } = definition
    return { ...others, ...(expires_at !== undefined && { expires_at }) }
  },
  read: definition => definition.expires_at ?? 'none',
})

/** The time to live counts from the moment at which it is set. */
const ttlSettings: Settings = takeValuesAlone({
  set: ({ value }) => changeExpiry(toExpiry(parseValue('ttl set', createNumberSchema('seconds', Ttl), value))),
  remove: () => changeExpiry(undefined),
})

/** Sets one member of the autostart; the operation has its name. */
const setAutostart =
  <K extends keyof Autostart>(
    name: K,
    schema: z.ZodType<Autostart[K]>,
    read: (autostart: Autostart) => string | number,
  ): Setting =>
  operation => {
    const value = parseValue(`autostart ${name}`, schema, operation.value)
    return {
      field: `autostart ${name}`,
      apply: definition => ({
        ...definition,
        autostart: { ...Autostart.parse(definition.autostart ?? {}), [name]: value },
      }),
      read: ({ autostart }) => read(Autostart.parse(autostart ?? {})),
    }
  }

const { order, delay } = Autostart.shape

/** What the service does with a machine by itself. The machine has no part in it, so these apply in every state. */
export const lifecycleSettings: Readonly<Record<string, Settings>> = {
  labels: labelSettings,
  ttl: ttlSettings,
  ephemeral: takeValuesAlone({ set: setMember('ephemeral', Switch, ({ ephemeral }) => formatSwitch(ephemeral)) }),
  autostart: takeValuesAlone({
    enabled: setAutostart('enabled', Switch, ({ enabled }) => formatSwitch(enabled)),
    order: setAutostart('order', createNumberSchema('a number', order.unwrap()), autostart => autostart.order),
    delay: setAutostart('delay', createNumberSchema('seconds', delay.unwrap()), autostart => autostart.delay),
  }),
  restart: takeValuesAlone({ set: setMember('restart', RestartPolicy, ({ restart = 'never' }) => restart) }),
}
