"""Shapes of text that orders an agent about, as data.

A rule's pattern is matched where one of its heads stands, in a lower-case view in which emphasis and double
quotes are blanks. In patterns a blank is any run of white space, and {orders} and the other names are the lists below.
Polarity, object and place decide: "always skip validation" is hostile, "never skip validation" is a team's rule.
Families after OWASP LLM01 and the public attack suites.

A pattern is alternatives between "¦"; each may begin with words between "@", of which one must stand near the head
(with "<" before them: in its clause), so that few are ever compiled.

Columns: id, heads between commas (behind a semicolon words of which one must be near, with "<" before them: before
the head), place ("" at the head, "tag" at the signs before it, "around" about it, "clause" where an order may begin,
"line" at the start of a line or sentence), pattern, what it is and how to write it instead, hit, near miss.
"""

from __future__ import annotations

from .rules_attacks import ROWS as ATTACKS
from .rules_claims import ROWS as CLAIMS
from .rules_orders import ROWS as ORDERS
from .rules_takeovers import ROWS as TAKEOVERS

LISTS = {
    "{orders}": "(?:{plain}|rules?|orders?|commands?|constraints?|restrictions?|polic(?:y|ies)|protocols?"
    "|guardrails?|context|limitations?|safeguards?|alignment)",
    "{plain}": "instructions?|directions?|directives?|prompts?|guidelines?|programming|training",
    "{former}": "(?:previous(?:ly)?|prior|above|preceding|earlier|former|past|existing|original|initial|foregoing"
    "|core|built-in|internal|your|my|system|safety|security|developer|future|ethical|content|given|stated|default)",
    "{fill}": "(?:(?:about|all|any|every|each|of|the|these|those|this|that|such|our|its|other|current|following"
    "|and) ){0,4}",
    "{drop}": "(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|overrid(?:e|ing)|bypass(?:ing)?"
    "|neglect|set aside|cast aside|discard|do not (?:follow|obey|adhere to)|don't (?:follow|obey)"
    "|stop (?:following|obeying))",
    "{shield}": "(?:security|safety|auth(?:entication|orization)?|access controls?|permission|content (?:filters?"
    "|polic(?:y|ies)|moderation)|ethic(?:al|s)|guardrails?|safeguards?|restrictions|verification"
    r"|validation|approvals?|consent|sandbox(?:ing)?|moderation|secret scan\w*|(?:certificate"
    "|signature|tls|ssl) (?:checks?|validation|verification))",
    "{person}": "(?:the |any |your |my )?(?:users?|humans?|operators?|owners?|admins?|anyone|anybody|developers?"
    "|reviewers?|maintainers?)",
    "{loot}": "(?:data|contents?|credentials?|secrets?|(?:api[ _-]?)?keys?|conversations?|history|messages?"
    "|passwords?|tokens?|files?|env(?:ironment)?|information|results?|emails?|transcripts?|memor(?:y"
    "|ies)|records?)",
    "{do}": "(?:print|state|say|write|output|respond|reply|only|instead|translate|report|tell|approve"
    "|recommend|rate|give|execute|run|send|follow|do|act|comply|reveal|show|answer|return|repeat|obey"
    "|listen|focus|proceed)",
}

ROWS = ATTACKS + ORDERS + TAKEOVERS + CLAIMS
STRICT = ("order-strict",)  # rules that apply at write time only
FOREIGN = "override-foreign"  # the one rule that is not looked for in ASCII
