// mail-server.mjs - a server of SMTP (RFC 5321) for one test, with STARTTLS and AUTH where the test wants them. It
// keeps what it took.
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

/** One connection. */
class Talk {
  constructor(server, socket) {
    this.server = server;
    this.secure = false;
    this.rest = '';
    this.mail = undefined;
    this.attach(socket);
    this.say('220 mail.example ESMTP');
  }

  attach(socket) {
    this.socket = socket;
    socket.on('error', () => {});
    this.take = (bytes) => this.read(bytes);
    socket.on('data', this.take);
  }

  say(line) {
    this.socket.write(`${line}\r\n`);
  }

  read(bytes) {
    this.rest += bytes.toString('latin1');
    for (;;) {
      const end = this.rest.indexOf(this.mail?.open ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const part = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.mail?.open ? 5 : 2));
      if (this.mail?.open) this.end(part);
      else this.obey(part);
    }
  }

  obey(line) {
    const { options } = this.server;
    if (this.asked) return this.login(line);
    const word = /^\S*/.exec(line)[0].toUpperCase();
    this.server.lines.push(line);
    if (word === 'EHLO') {
      const able = ['mail.example', ...(options.tls && !this.secure ? ['STARTTLS'] : []),
        ...(options.auth ? ['AUTH PLAIN'] : []), '8BITMIME'];
      able.forEach((a, i) => this.say(`250${i + 1 < able.length ? '-' : ' '}${a}`));
    } else if (word === 'STARTTLS' && options.tls) {
      this.say('220 go ahead');
      this.socket.off('data', this.take);
      this.secure = true;
      this.attach(new tls.TLSSocket(this.socket, { isServer: true, ...options.tls }));
    } else if (word === 'AUTH') {
      const [, , first] = line.split(' ');
      this.asked = first === undefined;
      if (this.asked) this.say('334 ');
      else this.login(first);
    } else if (word === 'MAIL') {
      this.mail = { from: line, to: [], secure: this.secure, auth: this.auth };
      this.say('250 ok');
    } else if (word === 'RCPT') {
      if (this.server.refuses) return this.say('550 no such person');
      this.mail.to.push(/<(.*)>/.exec(line)[1]);
      this.say('250 ok');
    } else if (word === 'DATA') {
      this.mail.open = true;
      this.say('354 go on');
    } else {
      this.say(word === 'QUIT' ? '221 bye' : '250 ok');
      if (word === 'QUIT') this.socket.end();
    }
    return undefined;
  }

  /** AUTH PLAIN (RFC 4616). */
  login(text) {
    const [, user, password] = Buffer.from(text, 'base64').toString().split('\0');
    this.asked = false;
    this.auth = { user, password };
    this.say(password === this.server.options.auth ? '235 welcome' : '535 no');
  }

  end(text) {
    const [head, body] = text.split(/\r\n\r\n/s);
    this.mail.open = false;
    this.mail.raw = text;
    this.mail.head = Object.fromEntries(head.replace(/\r\n /g, ' ').split('\r\n').map((l) => {
      const at = l.indexOf(': ');
      return [l.slice(0, at).toLowerCase(), l.slice(at + 2)];
    }));
    this.mail.text = Buffer.from(body, 'base64').toString();
    this.server.mails.push(this.mail);
    this.say('250 taken');
  }
}

/** A running server; ends with the test. options.tls: { cert, key }, options.auth: the password that it wants. */
export async function startMailServer(t, options = {}) {
  const sockets = new Set();
  const server = { options, mails: [], lines: [], refuses: false };
  const listener = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    return new Talk(server, socket);
  }).listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(listener, 'listening');
  server.port = listener.address().port;
  t.after(() => {
    sockets.forEach((s) => s.destroy());
    listener.close();
  });
  return server;
}
