// review.js - one review: the call, the reasons for an approval, the votes of others, and the own vote.
import { act, review as read, sources } from './api.js';
import { choicesOf, inWords, isCandidate, wrongBallot } from './ballot.js';
import { fired } from './details.js';
import { changes, difference } from './difference.js';
import { el, fill, say } from './dom.js';
import { live } from './live.js';
import { clock, digest, name, pill, text, when, word } from './shown.js';
import { labelList, sourceList } from './sources.js';
import { count, folded, tree } from './tree.js';

const TOLD = {
  approve: 'You approve.', modify: 'You ask for changes.', reject: 'You reject.', abstain: 'You abstain.',
};

const ENGINES = {
  review: 'Approve counts 1, ask for changes ½, reject 0.',
  weighted_consensus: 'The first opinion whose share is large enough decides.',
  unanimous: 'All votes must agree.',
  majority: 'The most frequent vote decides.',
  best_of_n: 'The vote with the highest confidence decides.',
  borda: 'Each place of a ranking gives points; the option with the most decides.',
};

/** Those whose verdict depends on a threshold. */
const WEIGHING = new Set(['review', 'weighted_consensus']);

const STATES = {
  open: 'The call waits for the verdict.',
  approved: 'The call may be made once; the caller has not returned yet.',
  redeemed: 'The caller returned, and the call was permitted.',
  rejected: 'The call was refused.',
  revised: 'The call was refused; the caller was asked to change it.',
  expired: 'No verdict in time: the call was refused.',
  lapsed: 'The call was approved, but the caller did not return in time.',
  withdrawn: 'The caller withdrew it.',
  cancelled: 'An administrator ended it.',
  outdated: 'The rules for this tool changed.',
  drifted: 'The target of the call changed after the approval.',
  failed: 'The plug-in that counts the votes failed, so the call was refused.',
};

const EVENTS = {
  open: 'The review opened', vote: 'Vote', accept: 'Approved', reject: 'Rejected', revise: 'Changes asked for', expire: 'Out of time',
  withdraw: 'Withdrawn', cancel: 'Cancelled', redeem: 'Redeemed: the call was permitted', drift: 'The target had changed', fail: 'The plug-in failed', outdate: 'The rules had changed', join: 'Asked for again', revoke: 'A delegation was revoked',
};

/** The records of a review as a list; also part of the life of a call. */
export function events(records) {
  return records.map((record) => el('li', { class: 'event' },
    when(record.at),
    el('div', {},
      el('p', {}, el('strong', {}, EVENTS[record.event] ?? word(record.event)), record.by !== undefined && [' by ', name(record.by)], record.vote !== undefined && [' ', pill(record.vote)]),
      record.elected !== undefined && el('p', {}, `Candidate ${record.elected} is elected; it alone may run.`),
      record.ranking !== undefined && el('p', { class: 'soft small' }, inWords(record)),
      record.feedback !== undefined && el('blockquote', {}, text(record.feedback)),
      record.reason !== undefined && el('p', { class: 'soft small' }, record.reason),
      record.extensions?.writ?.count_fault !== undefined && el('p', { class: 'soft small' }, text(record.extensions.writ.count_fault)),
      record.extensions?.writ?.via === 'elicitation' && el('p', { class: 'soft small' }, 'answered in the caller’s own client'),
      record.extensions?.writ?.via === 'bulk' && el('p', { class: 'soft small' }, 'cast together with votes on other calls of the same rule'),
      record.signature !== undefined && el('p', { class: 'soft small' }, 'signed by the voter’s own key'))));
}

/** Terms with their meanings, one under the other. */
export function facts(rows) {
  return el('dl', { class: 'facts' }, rows.filter((row) => row && row[1] !== undefined && row[1] !== null && row[1] !== false).map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value))));
}

export const tool = (decision) => [decision.extensions?.writ?.upstream !== undefined && [name(decision.extensions.writ.upstream), '/'], name(decision.tool)];

function why(review) {
  const { decision } = review;
  return el('section', { class: 'panel', 'aria-labelledby': 'why' },
    el('h2', { id: 'why' }, 'Why an approval is required'),
    decision.reason !== undefined && el('p', {}, text(decision.reason)),
    facts([
      ['Review', name(review.review)],
      ['Scope', decision.normalized_scope !== undefined && text(decision.normalized_scope)],
      ['Rules', decision.policy_refs?.length > 0 && el('ul', { class: 'plain' }, decision.policy_refs.map((ref) => el('li', {}, text(ref))))],
      ['Conditions', review.conditions?.length > 0 && el('ul', { class: 'plain' }, review.conditions.map((c) => el('li', {}, text(c.condition), ': ', text(c.wants), ' (', c.found, ')')))],
      ['Role of the caller', decision.agent_role !== undefined && name(decision.agent_role)],
      ['Run', decision.boundary_id !== undefined && text(decision.boundary_id)],
    ]));
}

/** Shows the number of folded parts, until none is left. */
function unread(shown) {
  const notice = el('p', { class: 'notice', hidden: true });
  const tell = () => {
    const left = folded(shown);
    notice.hidden = left === 0;
    notice.textContent = left === 0 ? '' : `Parts are hidden: ${left} ${left === 1 ? 'part is' : 'parts are'} folded.`;
  };
  shown.addEventListener('click', () => setTimeout(tell));
  tell();
  return notice;
}

/** Where the values and the labels of the run came from, for voters; read once for each time that the review is opened. */
function origins(review, person) {
  const flow = review.decision.extensions?.writ?.flow;
  const values = flow?.arguments?.filter(({ found }) => found !== undefined) ?? [];
  if ((values.length === 0 && flow?.rule === undefined) || !review.voters.some((voter) => voter.id === person.subject)) return null;
  const place = el('div', {}, el('p', { class: 'soft' }, 'Reading.'));
  sources(review.id).then(({ sources: list, labels }) => fill(place, list.length > 0 && sourceList(list),
    labels.length > 0 && [el('h3', {}, 'Labels of the run'), labelList(labels)],
    list.length + labels.length === 0 && el('p', { class: 'soft' }, 'The rule about the run looks at other calls, not at values or labels.'),
    list.some(({ places }) => places.length > 0) && el('p', { class: 'soft small' }, 'The texts are kept contents: the ledger records that you read them.')),
  (error) => fill(place, el('p', { class: 'fault', role: 'alert' }, `${error.message} ${error.hint ?? ''}`.trim())));
  return el('section', { class: 'panel', 'aria-labelledby': 'origins' }, el('h2', { id: 'origins' }, 'Where it came from'), place);
}

function since(review) {
  if (review.target_state_before === undefined) return null;
  const found = changes(review.target_state_before, review.target_state);
  return [
    el('h3', {}, 'Changes since the previous review ', el('span', { class: 'count' }, count(found.length, 'change', 'changes'))),
    found.length === 0 ? el('p', {}, 'Nothing changed.') : difference(found),
  ];
}

/** What each candidate would do, one under the other. */
function candidates(review) {
  return review.candidates.map((one) => {
    const shown = tree(one.arguments);
    return [el('h3', {}, `Candidate ${one.option}`), unread(shown), shown,
      one.state !== undefined && [el('h4', {}, 'State of its target, from the tool’s server'), tree(one.state)]];
  });
}

/** What the voters judge. */
function judged(review) {
  if (review.arguments === undefined) return ['Arguments', el('p', { class: 'soft' }, 'The review is over: the arguments are no longer kept. The ledger has their digest.')];
  if (review.candidates !== undefined) return ['Candidates', [el('p', { class: 'soft' }, 'The caller proposes these calls. The one that the voters elect may run, once.'), candidates(review)]];
  const shown = tree(review.arguments);
  return ['Arguments', [unread(shown), shown]];
}

function target(review) {
  const { decision, target_state: now } = review;
  if (review.candidates !== undefined) return null; // each has its own
  if (decision.target === undefined && review.target_state_digest === undefined) return null;
  const shown = now !== undefined && el('div', { class: 'target-state' }, since(review), el('h3', {}, 'Its state, from the tool’s server'), tree(now));
  return el('section', { class: 'panel', 'aria-labelledby': 'target' },
    el('h2', { id: 'target' }, 'Target of the call'),
    facts([
      ['Target', decision.target !== undefined && text(decision.target)],
      ['Its state', review.target_state_digest !== undefined ? digest(review.target_state_digest) : 'not observed'],
    ]),
    shown && unread(shown), shown,
    !shown && review.target_state_digest !== undefined && el('p', { class: 'soft' }, review.arguments === undefined
      ? 'The review is over: the text of the state is no longer kept.' : 'The text of the state is missing: it is too long, or the caller sent only the digest.'));
}

function numbers(review) {
  const { decision } = review;
  return el('details', { class: 'panel' }, el('summary', {}, 'Digests and ids'),
    facts([
      ['Review', digest(review.id)], ['Terms of the review', digest(review.review_digest)], ['Intent', digest(review.intent_digest)],
      ['Arguments', decision.params_hash && digest(decision.params_hash)], ['Policy', decision.policy_digest && digest(decision.policy_digest)],
      ['Plug-in that counts', review.engine_digest && digest(review.engine_digest)],
      ['Tool’s definition', decision.extensions?.writ?.definition && digest(decision.extensions.writ.definition)],
      ['In the ledger', el('a', { href: `/ledger/${encodeURIComponent(review.id)}` }, 'the life of this call')],
    ]));
}

/** How the votes of a review are counted. */
function counting(review) {
  if (review.engine_digest !== undefined) return ['The plug-in ', name(review.engine), ' counts when all have voted.'];
  const rule = WEIGHING.has(review.engine) ? `Threshold ${review.threshold} of the votes cast, quorum` : 'A tie asks for changes. Quorum';
  return `${ENGINES[review.engine] ?? ''} ${rule} ${review.quorum}.`;
}

function votes(review) {
  const said = new Map(review.records.filter((record) => record.event === 'vote').map((record) => [record.by, record.feedback]));
  const electors = review.voters.filter((voter) => !voter.stand_in);
  const voteOf = ({ speaker, vote }) => (speaker === undefined ? vote : review.voters.find((voter) => voter.id === speaker)?.vote);
  const cast = electors.filter((voter) => voteOf(voter) !== undefined).length;
  return [
    el('h2', {}, 'Votes ', el('span', { class: 'count' }, `${cast} of ${electors.length}`)),
    el('ul', { class: 'votes' }, review.voters.map((voter) => el('li', {},
      el('div', { class: 'line' },
        el('span', {}, name(voter.id), el('span', { class: 'soft small' }, voter.stand_in ? ' stands in for others' : voter.weight !== 1 && ` weight ${voter.weight}`, voter.veto && ' has a veto', voter.delegate !== undefined && [' delegates to ', name(voter.delegate), voter.delegation !== undefined && [voter.revoked ? ', revoked' : [' until ', when(voter.delegation.until, { short: true })]]])),
        voteOf(voter) === undefined ? el('span', { class: 'pill plain' }, 'Not yet') : pill(voteOf(voter))),
      voter.speaker !== undefined && el('p', { class: 'soft small' }, 'the vote of ', name(voter.speaker)),
      voter.ranking !== undefined && el('p', { class: 'soft small' }, inWords(voter)),
      voter.voted_at !== undefined && el('p', { class: 'soft small' }, when(voter.voted_at)),
      said.get(voter.id) !== undefined && el('blockquote', {}, text(said.get(voter.id)))))),
    el('p', { class: 'soft small' }, counting(review), ' Silence never approves.'),
  ];
}

// the voters that have not voted, and for whom this person's vote counts too
function spokenFor(review, person) {
  const find = (id) => review.voters.find((voter) => voter.id === id);
  const next = (voter) => (voter.delegate === undefined || voter.revoked || (voter.delegation !== undefined && Date.parse(voter.delegation.until) <= Date.now()) ? undefined : find(voter.delegate));
  const reaches = (voter) => {
    for (let at = voter, steps = 0; at !== undefined && at.vote === undefined && steps < review.voters.length; at = next(at), steps++) {
      if (at.delegate === person.subject && next(at) !== undefined) return true;
    }
    return false;
  };
  const list = review.voters.filter((voter) => !voter.stand_in && voter.id !== person.subject && reaches(voter));
  return list.length > 0 && el('p', { class: 'soft' }, 'Your vote counts for ', list.map((voter, i) => [i > 0 && ', ', name(voter.id)]), find(person.subject)?.stand_in ? '.' : ' too.');
}

function ballot(review, person, cast) {
  const own = review.voters.find((voter) => voter.id === person.subject);
  const fault = el('p', { class: 'fault', role: 'alert', id: 'vote-fault' });
  const feedback = el('textarea', { id: 'feedback', rows: '3', 'aria-describedby': 'feedback-help' });
  const button = el('button', { class: 'main', id: 'cast' }, 'Cast your vote');
  const choices = choicesOf(review);
  const sure = review.engine === 'best_of_n' ? el('input', { id: 'confidence', inputmode: 'decimal', 'aria-describedby': 'confidence-help' }) : null;
  const form = el('form', { method: 'post', novalidate: true, class: 'ballot' },
    el('fieldset', {}, el('legend', {}, 'Your vote'),
      choices.element),
    sure && [el('label', { for: 'confidence' }, 'How sure are you?'), sure, el('p', { class: 'soft small', id: 'confidence-help' }, 'A number from 0 to 1. The surest vote decides.')],
    el('label', { for: 'feedback' }, 'Feedback'), feedback,
    el('p', { class: 'soft small', id: 'feedback-help' }, 'The ledger keeps it with your vote, and the caller sees it.'),
    spokenFor(review, person),
    fault, button,
    own?.vote !== undefined && el('p', { class: 'soft small' }, `You voted: ${inWords(own)}. Until the review closes you can vote again; the last vote counts.`));
  form.addEventListener('change', () => {
    const chosen = choices.value();
    if (chosen.vote) button.textContent = `Cast your vote: ${inWords(chosen)}`;
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.hasAttribute('aria-disabled')) return;
    const chosen = { ...choices.value(), ...(sure && sure.value.trim() !== '' && { confidence: sure.value.trim() }) };
    const said = feedback.value.trim();
    const wrong = wrongBallot(chosen, said, choices, feedback, sure);
    fill(fault, wrong?.[0]);
    if (wrong !== null) {
      wrong[1].focus();
      return;
    }
    button.setAttribute('aria-disabled', 'true'); // a disabled one would lose the focus
    try {
      await cast(chosen, said);
    } catch (error) {
      fill(fault, error.message, error.hint && ` ${error.hint}`);
    } finally {
      button.removeAttribute('aria-disabled');
    }
  });
  return form;
}

function deeds(review, done) {
  const fault = el('p', { class: 'fault', role: 'alert' });
  const buttons = review.may.filter((deed) => deed === 'withdraw' || deed === 'cancel').map((deed) => {
    const button = el('button', { type: 'button', class: 'quiet' }, deed === 'withdraw' ? 'Withdraw the call' : 'End this review');
    let sure = false;
    button.addEventListener('click', async () => {
      if (!sure) {
        sure = true;
        button.textContent = `${button.textContent}: press again to confirm`;
        return;
      }
      button.disabled = true;
      try {
        await act(review.id, deed);
        await done(deed === 'withdraw' ? 'Withdrawn.' : 'The review is ended.');
      } catch (error) {
        fill(fault, error.message);
        button.disabled = false;
      }
    });
    return button;
  });
  return buttons.length > 0 && el('div', { class: 'deeds' }, buttons, fault);
}

export async function reviewView(person, id) {
  let review = await read(id);
  const approved = review.review_digest; // what the vote is for: what was read when this was drawn
  let ended = false;
  const state = el('div', { class: 'line state' });
  const voted = el('div', { class: 'panel' });
  const box = el('div', { class: 'panel vote', id: 'ballot' });
  const jump = el('button', { type: 'button', class: 'main jump' }, 'To the vote');
  const story = el('ol', { class: 'events' });
  const [title, shown] = judged(review);
  const heading = el('h1', { tabindex: '-1' }, tool(review.decision));

  const head = () => fill(state, pill(review.state), el('span', { class: 'soft' }, STATES[review.state] ?? ''),
    (review.state === 'open' || review.state === 'approved') && clock(review.expires_at, review.state === 'open' ? 'Expires in' : 'To be used within', 'Over since'));
  const rest = () => {
    fill(voted, votes(review));
    fill(story, events(review.records));
  };
  const draw = () => {
    const focused = box.contains(document.activeElement) ? document.activeElement.id : null;
    const own = review.voters.find((voter) => voter.id === person.subject);
    if (review.may.includes('vote') && own?.key !== undefined) {
      fill(box, el('h2', { tabindex: '-1' }, 'Your votes are signed'),
        el('p', { class: 'soft' }, 'Your votes need a signature of your own key, which this page does not have. Vote with:'),
        el('pre', { class: 'command', tabindex: '0' }, `writ review vote ${location.origin} ${review.id} ${review.options?.join() ?? 'approve'} --token FILE --key FILE --digest ${review.review_digest}`), deeds(review, renew));
    } else if (review.may.includes('vote')) {
      fill(box, ballot(review, person, cast), deeds(review, renew));
    } else {
      fill(box, el('h2', { tabindex: '-1' }, review.state === 'open' ? 'You do not vote here' : 'Closed'),
        el('p', { class: 'soft' }, review.state === 'open' ? 'You see this review because you asked for the call, or because you administer it.' : STATES[review.state] ?? ''), deeds(review, renew));
    }
    // the focus stays where it was, or as near as there is something
    if (focused !== null) (box.querySelector(`[id="${CSS.escape(focused)}"]`) ?? box.querySelector('h2') ?? heading).focus();
  };
  const renew = async (told) => {
    const before = review;
    const fresh = await read(id);
    if (ended) return;
    review = fresh;
    head();
    rest();
    if (told !== undefined || before.state !== review.state) draw();
    if (before.state !== review.state) say(`${told ?? ''} ${word(review.state)}. ${STATES[review.state] ?? ''}`.trim());
    else if (told !== undefined) say(told);
  };
  const cast = async ({ vote, ranking, confidence }, feedback) => {
    await act(id, 'vote', { review_digest: approved, ...(ranking ? { ranking } : { vote }), ...(feedback !== '' && { feedback }),
      ...(confidence !== undefined && { confidence: Number(confidence) }) });
    await renew(`Your vote is recorded. ${isCandidate(vote) ? `You prefer candidate ${vote}.` : TOLD[vote]}`);
  };
  const heard = ({ detail }) => {
    const now = JSON.stringify([detail.state, detail.voters]);
    if (detail.id === id && now !== JSON.stringify([review.state, review.voters])) renew().catch(() => {});
  };

  jump.addEventListener('click', () => {
    box.scrollIntoView({ block: 'end' });
    (box.querySelector('input, button') ?? box).focus({ preventScroll: true });
  });
  const seen = new IntersectionObserver(([entry]) => { jump.hidden = entry.isIntersecting || box.querySelector('.ballot') === null; });
  seen.observe(box);
  head();
  rest();
  draw();
  live.addEventListener('review', heard);
  return {
    title: `${review.decision.tool} · Review`,
    element: el('article', { class: 'review' },
      el('header', {}, el('p', { class: 'crumb' }, el('a', { href: '/reviews' }, 'Reviews')), heading, state,
        el('p', {}, name(review.agent_id), review.tenant && [' of ', name(review.tenant)], ' asked for this call ', clock(review.opened_at, 'in', '')), fired(review.conditions ?? [])),
      el('div', { class: 'columns' },
        el('div', { class: 'read' },
          el('section', { class: 'panel', 'aria-labelledby': 'arguments' }, el('h2', { id: 'arguments' }, title), shown),
          origins(review, person), target(review)),
        el('div', { class: 'decide' }, box, voted, jump),
        el('div', { class: 'after' },
          why(review),
          el('section', { class: 'panel', 'aria-labelledby': 'history' }, el('h2', { id: 'history' }, 'What happened'), story), numbers(review)))),
    end() {
      ended = true;
      seen.disconnect();
      live.removeEventListener('review', heard);
    },
  };
}
