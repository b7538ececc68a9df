import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from './sshd.ts'

const program = '/usr/sbin/nginx'
const dav = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so'

/** Whether Debian's nginx is here with the module that lists folders. */
export const nginxInstalled = existsSync(program) && existsSync(dav)
if (process.env['REQUIRE_PROVIDERS'] === '1' && !nginxInstalled)
  throw new Error(`REQUIRE_PROVIDERS is set, and ${program} or ${dav} is missing`)

export interface NginxDav extends AsyncDisposable {
  readonly url: string
  readonly username: string
  readonly password: string
  /** The folder that it serves. */
  readonly root: string
}

/** A WebDAV server with Basic authentication on a port of the loopback; everything of it is in `folder`. */
export const startNginxDav = async (folder: string): Promise<NginxDav> => {
  const port = await freePort()
  const root = join(folder, 'root')
  const [username, password] = ['clerk', 'open@sesame']
  mkdirSync(join(root, 'artifactory'), { recursive: true })
  // On the file system of the root: what has come is renamed into its place.
  mkdirSync(join(folder, 'bodies'))
  writeFileSync(join(folder, 'users'), `${username}:{PLAIN}${password}\n`)
  const paths = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map(kind => `${kind}_temp_path ${join(folder, kind)};`)
  writeFileSync(
    join(folder, 'nginx.conf'),
    `load_module ${dav};
daemon off;
master_process off;
pid ${join(folder, 'pid')};
error_log stderr notice;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${join(folder, 'bodies')};
  ${paths.join('\n  ')}
  client_max_body_size 0;
  server {
    listen 127.0.0.1:${port};
    root ${root};
    auth_basic vmhost;
    auth_basic_user_file ${join(folder, 'users')};
    dav_methods PUT DELETE MKCOL MOVE;
    dav_ext_methods PROPFIND OPTIONS;
  }
}
`,
  )
  const child = spawn(program, ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise(resolve => child.once('exit', resolve))
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      printed += text.toString()
      // Said when its ports are open.
      if (printed.includes('RLIMIT_NOFILE')) resolve()
    })
    child.once('exit', () => reject(new Error(`nginx ended: ${printed}`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    username,
    password,
    root,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
