import * as z from 'zod'

const Text = (maxLength: number) => z.string().max(maxLength)

/** The request of section 2.9 of the specification. `passphrase` and `fingerprint` are additions of this service. */
const Request = z
  .object({
    host: Text(255)
      .trim()
      .regex(/^[\w.:%-]+$/, 'must be a host name or an IP address'),
    port: z.coerce.number().int().min(1).max(65_535).default(22),
    username: Text(255).min(1),
    password: Text(1024).optional(),
    key: Text(32_768)
      .optional()
      .meta({ description: 'Private key, in PEM or OpenSSH form; tried before the password' }),
    passphrase: Text(1024).optional().meta({ description: 'Passphrase of the key' }),
    command: Text(32_768).min(1),
    enable_insecure_key: z.boolean().default(false).meta({
      description: 'true: do not check the key of the host',
    }),
    fingerprint: z
      .string()
      .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be SHA256: and 43 characters, as ssh-keygen -l prints it')
      .optional()
      .meta({ description: 'Fingerprint of the key that the host must have' }),
  })
  .refine(({ password, key }) => Boolean(password) || Boolean(key), 'password or key is missing')
// The specification allows a request without a body. The error then names the missing fields.
export const SshRequest = z.preprocess(body => body ?? {}, Request)
export type SshRequest = z.infer<typeof SshRequest>

export const SshResult = z
  .object({
    output: z.string().meta({ description: 'Output of the command on stdout and stderr, in the order of arrival' }),
    error: z.string().meta({ description: 'Why the command failed; empty when it succeeded' }),
  })
  .meta({ id: 'SshResult' })
export type SshResult = z.infer<typeof SshResult>
