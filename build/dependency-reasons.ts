/** What the program is bundled with, and why: by the name of the package. `build/checks.ts` holds the list to the sources. */
export const dependencyReasons: Readonly<Record<string, string>> = {
  '@clack/prompts': 'Passwords and connections that are typed on a terminal. Loaded on demand.',
  '@hono/node-server': "Turns Node's requests into those of the web standard, and back.",
  '@logtape/logtape': 'The log: structured, without dependencies, also on the edge.',
  '@novnc/novnc': 'The screen of the web console. The browser loads it when somebody opens a screen.',
  '@peculiar/x509': 'Makes the first certificate of a host; Node itself makes none. Loaded on demand.',
  '@xterm/xterm': 'The terminal of the web console. The browser loads it when somebody opens a console.',
  aws4fetch: 'Signs requests of S3; the SDK of the vendor is seventy times as large.',
  bcryptjs:
    'Passwords: plain JavaScript, so that nothing has to be compiled on the host; it runs in a thread of its own.',
  commander: 'The command line: flags, help, what was probably meant.',
  hono: 'The router, on Node and on the edge alike.',
  htmlparser2: 'The XML that S3, Azure and WebDAV servers send: its tokenizer alone. Loaded on demand.',
  jose: 'Signs and verifies tokens, publishes keys.',
  preact: 'Draws the web console in the browser, in 5 KB.',
  'prom-client': 'The text and the types of /metrics.',
  re2js: 'Regular expressions of callers, in time that grows with the text alone. Loaded on demand.',
  'reflect-metadata': '@peculiar/x509 asks for it.',
  'smol-toml': 'The configuration file.',
  ssh2: 'Commands on other hosts. Loaded on demand.',
  unstorage: 'The interface between the store and what holds it: SQLite, or memory.',
  v86: 'The PC of the embedded driver: an emulator, so that nothing has to be installed. Loaded on demand.',
  ws: 'WebSockets: Node has a client alone.',
  zod: 'What comes in is judged by it, and described: the OpenAPI document is made of the same schemas.',
}

/** The Node that is installed with the package, for each platform. */
export const nodePackages = /^node(-bin)?-(linux|darwin)-(x64|arm64)$/
