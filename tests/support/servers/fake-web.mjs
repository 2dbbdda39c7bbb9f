// fake-web.mjs - for `node --import`: every request that the program makes with fetch or node-fetch is answered here,
// as the services of the official tool servers would (api.github.com, gitlab.com, slack.com, maps.googleapis.com,
// api.search.brave.com), and example.com. A host without an answer fails. Each look at the time finds it two seconds
// later, because one of the servers limits its requests.
import { registerHooks } from 'node:module';

const SHA = '0123456789abcdef0123456789abcdef01234567', TIME = '2026-01-02T03:04:05Z', URL_ = 'https://example.com/x';
const links = Object.fromEntries(['url', 'html_url', 'git_url', 'ssh_url', 'clone_url', 'avatar_url', 'labels_url',
  'comments_url', 'events_url', 'repository_url', 'diff_url', 'patch_url', 'issue_url', 'download_url', 'target_url',
  'blob_url', 'raw_url', 'contents_url', 'pull_request_url', 'web_url', 'ssh_url_to_repo', 'http_url_to_repo',
].map((name) => [name, URL_]));
const times = Object.fromEntries(['created_at', 'updated_at', 'pushed_at', 'submitted_at', 'last_activity_at', 'date',
  'authored_date', 'committed_date'].map((name) => [name, TIME]));
const plain = { ...links, ...times, id: 7, iid: 7, number: 7, project_id: 7, node_id: 'n', sha: SHA, size: 4,
  name: 'box.js', source_branch: 'x', target_branch: 'main',
  path: 'src/a.js', full_name: 'acme/box.js', path_with_namespace: 'acme/box', title: 'A title',
  body: 'A body', message: 'A message', description: 'A text', context: 'ci', filename: 'src/a.js', label: 'ann:x',
  ref: 'main', default_branch: 'main', visibility: 'private', private: true, fork: false, locked: false,
  truncated: false, type: 'file', mode: '100644', encoding: 'base64', content: 'b25lCg==', login: 'ann',
  username: 'ann', email: 'ann@example.com', comments: 0, comment_count: 0, additions: 1, deletions: 0, changes: 1,
  total_count: 1, author_association: 'MEMBER', diff_hunk: '@@', position: 1, original_position: 1, commit_id: SHA,
  original_commit_id: SHA, pull_request_review_id: 7, closed_at: null, merged_at: null, merge_commit_sha: null,
  milestone: null, diff_refs: null, file_name: 'a.js', file_path: 'src/a.js', content_sha256: SHA, blob_id: SHA,
  last_commit_id: SHA, branch: 'main', short_id: '0123456', author_name: 'Ann', author_email: 'ann@example.com',
  committer_name: 'Ann', committer_email: 'ann@example.com', parent_ids: [SHA], state: 'open',
  _links: { self: URL_, git: URL_, html: URL_ } };
const author = { ...plain }, side = { ...plain, user: plain, repo: { ...plain, owner: plain } };
const thing = { ...plain, owner: plain, user: plain, author, committer: author, assignee: null, assignees: [plain],
  requested_reviewers: [], labels: [], head: side, base: side, parents: [plain], tree: plain, object: plain,
  parent: { ...plain, owner: plain }, source: { ...plain, owner: plain },
  forked_from_project: { ...plain, owner: plain } };
const commit = { ...thing, commit: thing };

/** GitHub and GitLab: one thing that has every member, or a list of it; and what is of another form. */
function forge(path, method) {
  if (/\/search\//.test(path)) return { total_count: 1, incomplete_results: false, items: [thing] };
  if (/\/pulls\/\d+\/files/.test(path)) return [{ ...thing, status: 'modified' }];
  if (/\/pulls\/\d+\/reviews/.test(path)) {
    return method === 'GET' ? [{ ...thing, state: 'APPROVED' }] : { ...thing, state: 'COMMENTED' };
  }
  if (/\/pulls\/\d+\/comments/.test(path)) {
    return [{ ...thing, _links: { self: { href: URL_ }, html: { href: URL_ }, pull_request: { href: URL_ } } }];
  }
  if (/\/commits\/[^/]+\/status/.test(path)) {
    return { ...thing, state: 'success', statuses: [{ ...thing, state: 'success' }] };
  }
  if (/\/git\/trees/.test(path)) return { ...thing, tree: [{ ...plain, type: 'blob' }] };
  if (/\/contents\//.test(path) && method === 'PUT') return { content: thing, commit };
  if (/\/repository\/files\//.test(path) && method !== 'GET') return { ...plain, content: undefined, commit_id: SHA };
  if (/\/repository\/branches/.test(path)) return { ...plain, commit: { id: SHA, web_url: URL_ } };
  if (/\/repository\/commits/.test(path)) return { ...plain, id: SHA };
  const lists = /\/(commits|issues|pulls|projects)$/.test(path) && method === 'GET';
  return lists ? [commit] : thing;
}

const place = { name: 'Café', formatted_address: 'Berlin', place_id: 'p', types: ['cafe'], rating: 4.5, elevation: 30,
  resolution: 10, location: { lat: 52.5, lng: 13.4 }, geometry: { location: { lat: 52.5, lng: 13.4 } },
  address_components: [] };
const leg = { distance: { text: '1 km', value: 1000 }, duration: { text: '1 min', value: 60 }, steps: [],
  status: 'OK' };
const SERVICES = {
  'api.github.com': forge,
  'gitlab.com': forge,
  'example.com': () => ({}),
  'slack.com': () => ({ ok: true, ts: '1355517523.000005', channels: [], members: [], messages: [], profile: {} }),
  'maps.googleapis.com': () => ({ status: 'OK', results: [place], result: place, origin_addresses: ['a'],
    destination_addresses: ['b'], rows: [{ elements: [leg] }], routes: [{ summary: 's', legs: [leg] }] }),
  'api.search.brave.com': (path) => (/\/descriptions/.test(path) ? { descriptions: { p: 'Good.' } }
    : /\/pois/.test(path) ? { results: [{ id: 'p', name: 'Café' }] }
      : { web: { results: [{ title: 'T', description: 'D', url: URL_ }] }, locations: { results: [{ id: 'p' }] } }),
};

globalThis.fetch = async (url, { method = 'GET' } = {}) => {
  const { hostname, pathname, port } = new URL(url);
  if (port !== '' || SERVICES[hostname] === undefined) throw new Error(`no service at ${hostname}`);
  return Response.json(SERVICES[hostname](pathname, method), { headers: { 'x-total': '1' } });
};
registerHooks({ resolve: (name, context, next) => (name !== 'node-fetch' ? next(name, context)
  : { url: 'data:text/javascript,export default (...a) => globalThis.fetch(...a)', shortCircuit: true }) });

const began = Date.now();
let looks = 0;
Date.now = () => began + 2000 * looks++;
