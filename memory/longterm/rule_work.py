"""What people say of their work: what they are, for whom and with whom they work, when, where and with which tools.

A role, an employer, a team and a place of work are four matters: none of them ends another.
"""

from __future__ import annotations

from typing import Final

from memory.longterm.rule_form import END, END_ZH, NAME, NAME_ZH, NOW, NOW_ZH, Rule, en, zh

_TITLE: Final = (
    r"(?:engineer|manager|designer|developer|programmer|analyst|lead|director|accountant|nurse|teacher|doctor|lawyer|student|intern|buyer|planner|scientist|consultant|assistant|officer|"
    r"specialist|coordinator|writer|editor|architect|researcher|marketer|recruiter|tester|translator|trainer|driver|technician|operator|dispatcher|bookkeeper|secretary|receptionist|"
    r"journalist|electrician|mechanic|chef|founder|freelancer|contractor|salesperson|sales rep|support agent|sre|cto|ceo|cfo|vp|head of [\w ]{2,24})"
)
_TITLE_ZH: Final = "(?:工程师|经理|设计师|程序员|产品|运营|会计|老师|医生|律师|学生|分析师|总监|实习生|采购|销售|客服|编辑|主管|架构师|测试|前端|后端|开发|护士|司机|翻译|法务|财务|人事|顾问|研究员|组长|负责人|厨师|记者|出纳|秘书)"
_TEAM: Final = r"(?:team|department|dept|group|squad|division|crew)"
_THE_TEAM: Final = rf"(?:the |our )?(?:(?!with\b|of\b|for\b|in\b|on\b|to\b|from\b|that\b|this\b|a\b|an\b|another\b|call\b|same\b)[\w&'-]+ ){{1,3}}{_TEAM}"
_TEAM_ZH: Final = "(?:部门|部|团队|小组|组)"
_NO_FIRM: Final = (
    r"(?!home\b|night|the moment\b|my desk|least\b|all\b|it\b|this\b|that\b|both\b|the same\b|full|part|a (?:time|pace)\b|you\b|them\b|him\b|her\b|myself\b)"
)
_IN_TEAM: Final = r"(?!the (?:morning|afternoon|evening)|mornings|evenings|shifts|batches|silence|progress|a \w+ (?:office|room)|public|peace|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|theory|vain|my |an? hour|\d)"
_TIME: Final = r"\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m\.|p\.m\.)?"
_TIME_ZH: Final = "(?:早上|上午|中午|下午|晚上)?[\\d一二三四五六七八九十两]{1,3}(?:点半?|:\\d\\d|：\\d\\d)"
_DAY: Final = r"(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?)"
_DAY_ZH: Final = "(?:周[一二三四五六日天末]|星期[一二三四五六日天])"
_TOOL: Final = (
    r"(?:vim|neovim|emacs|vs ?code|visual studio(?: code)?|intellij(?: idea)?|pycharm|webstorm|goland|helix|zed|sublime(?: text)?|notepad\+\+|xcode|android studio|cursor|jupyter|rstudio|"
    r"windows|linux|ubuntu|fedora|debian|arch|mac ?os|a mac|macbook|chrome|firefox|safari|edge|figma|sketch|notion|obsidian|jira|linear|trello|asana|excel|google sheets|google docs|outlook|thunderbird|"
    r"gmail|zsh|fish|tmux|iterm2?|postman|tableau|power bi|飞书|钉钉|企业微信|语雀|石墨)"
)
_STATE: Final = (
    r"(?!broken|slow|down|dead|open|closed|missing|not|on\b|off\b|too|acting|crashing|frozen|stuck|very|so\b|really|the (?:problem|best|worst)|a (?:mess|pain))"
)

WORK: Final[tuple[Rule, ...]] = (
    # --- with what -----------------------------------------------------------------------------------------------------------------
    Rule(
        "own",
        en(
            rf"my (?:main |preferred |default )?(?P<o>editor|ide|browser|shell|terminal|operating system|os) (?:is|'s)(?: now)? {_STATE}(?P<v>[\w +#.-]{{2,24}}?){END}"
        ),
        keyed=True,
        single=True,
        importance=0.6,
    ),
    Rule(
        "own",
        zh(rf"我的?(?:主力|默认)?(?P<o>编辑器|浏览器|终端|操作系统)(?:现在)?(?:是|用的?是?|换成了?)(?P<v>[^，,。坏卡慢]{{2,16}}?){END_ZH}"),
        keyed=True,
        single=True,
        importance=0.6,
    ),
    Rule(
        "own",
        en(rf"i {NOW}(?:use|switched to) (?P<v>[\w +#.-]{{2,20}}?) (?:as|for) my (?:main |default )?(?P<o>editor|ide|browser|shell|terminal|os){END}"),
        keyed=True,
        single=True,
        importance=0.6,
    ),
    Rule("tool", en(rf"i (?:no longer|don't|do not|stopped) us(?:e|ing) (?P<o>{_TOOL})(?: any ?more)?{END}"), keyed=True, negated=True, importance=0.55),
    Rule(
        "tool",
        en(
            rf"i(?:'m on| am on|'m using)? {NOW}(?:only |mostly |mainly |always )*(?:use|run|code in|write code in|work in|switched to)? ?(?P<o>{_TOOL})(?: (?:for|as) (?:work|everything|coding|development|my (?:work|code)|design))?{END}"
        ),
        keyed=True,
        importance=0.55,
    ),
    Rule("tool", zh(rf"我(?:已经|现在)?(?:不再|不)用(?P<o>{_TOOL}){END_ZH}"), keyed=True, negated=True, importance=0.55),
    Rule(
        "tool",
        zh(
            rf"我{NOW_ZH}(?:平时|一直|主要|都|一般)*(?:写代码|工作|办公|开发|画图)?(?:时|的时候)?(?:都|主要|一直|也)*(?:用的?是?|使用|改用|换成了?)(?P<o>{_TOOL})(?:写代码|工作|办公|开发)?{END_ZH}"
        ),
        keyed=True,
        importance=0.55,
    ),
    # --- what they are -------------------------------------------------------------------------------------------------------------
    Rule(
        "role",
        en(rf"i(?:'m| am) (?:no longer|not) (?:a|an|the) (?P<v>(?:[\w/-]+ ){{0,4}}?{_TITLE})(?: any ?more)?{END}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule("role", en(rf"i(?:'m| am) {NOW}(?:an?|the) (?P<v>(?:[\w/-]+ ){{0,4}}?{_TITLE})(?: (?:at|in|for|on|of) .{{2,40}})?{END}"), single=True, importance=0.7),
    Rule("role", en(rf"i(?:'m| am) {NOW}(?P<v>(?:[\w/-]+ )+{_TITLE}|{_TITLE}) (?:at|for) .{{2,40}}?{END}"), single=True, importance=0.7),
    Rule("role", en(rf"i(?:'m| am) {NOW}(?:the )?(?P<v>head of [\w ]{{2,24}}|ceo|cto|cfo|coo|cmo){END}"), single=True, importance=0.7),
    Rule("role", en(rf"i {NOW}work as (?:an?|the) (?P<v>[\w /-]{{3,40}}?)(?: (?:at|in|for|on) .{{2,40}})?{END}"), single=True, importance=0.7),
    Rule(
        "role",
        en(rf"my (?:job title|title|profession|occupation)(?: here)? is (?:an? |the )?{_STATE}(?P<v>[\w /-]{{2,40}}?){END}"),
        single=True,
        importance=0.7,
    ),
    Rule(
        "role",
        en(rf"my (?:job|role)(?: here)? is (?:(?:an?|the) (?P<v>(?:[\w/-]+ ){{0,4}}?{_TITLE})|(?P<v2>(?:[\w/-]+ ){{0,3}}?{_TITLE})){END}"),
        single=True,
        importance=0.7,
    ),
    Rule(
        "role",
        zh(rf"我(?:已经|现在)?(?:不再|不)是(?:一名|一个)?(?P<v>[^，,。]{{0,10}}?{_TITLE_ZH}){END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "role",
        zh(rf"我{NOW_ZH}是(?:一名|一个|一位|个|做|公司的?|(?P<o>[^，,。的]{{2,10}}?)的)?(?P<v>[^，,。的]{{0,10}}?{_TITLE_ZH})(?:的)?{END_ZH}"),
        single=True,
        importance=0.7,
    ),
    Rule("role", zh(rf"我{NOW_ZH}(?:是)?做(?P<v>[^，,。完了好过]{{2,10}}?)(?:工作)?的{END_ZH}"), single=True, importance=0.7),
    Rule("role", zh(rf"我的?(?:职位|职务|岗位|职业)(?:现在)?是(?!什么|空|新)(?P<v>[^，,。]{{2,12}}?){END_ZH}"), single=True, importance=0.7),
    Rule("role", zh(rf"我的?工作(?:现在)?是(?:做)?(?P<v>[^，,。]{{0,10}}?{_TITLE_ZH}){END_ZH}"), single=True, importance=0.7),
    Rule("role", zh(rf"我{NOW_ZH}(?:担任|当(?!时|然|初|场|下|天|面|成|年))(?P<v>[^，,。]{{0,10}}?{_TITLE_ZH}){END_ZH}"), single=True, importance=0.7),
    # --- with whom, and where ------------------------------------------------------------------------------------------------------
    Rule(
        "team",
        en(
            rf"i (?:no longer|don't|do not) work (?:in (?!that|this)(?:the )?{_IN_TEAM}(?P<v>[\w &'-]{{2,40}}?)|(?:on|with|for) (?P<v2>{_THE_TEAM}))(?: any ?more)?{END}"
        ),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "team",
        en(rf"i(?:'m| am) (?:no longer|not) (?:on|in|part of) (?P<v>{_THE_TEAM})(?: any ?more)?{END}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule("team", en(rf"i(?:'ve| have)? left (?P<v>{_THE_TEAM}){END}"), single=True, negated=True, retracts=True, importance=0.6),
    Rule("team", en(rf"i(?:'m| am) {NOW}(?:on|in|with|part of) (?P<v>{_THE_TEAM}){END}"), single=True, importance=0.7),
    Rule(
        "team",
        en(
            rf"i(?:'ve| have)? {NOW}(?:work|working|worked) (?:in (?!that|this)(?:the |our )?{_IN_TEAM}(?P<v>[\w &'-]{{2,40}}?(?: {_TEAM})?)|on (?P<v2>{_THE_TEAM}))(?: (?:since|for) .{{2,20}})?{END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule("team", en(rf"i {NOW}(?:work|working) (?:for|with) (?P<v>{_THE_TEAM}){END}"), single=True, importance=0.7),
    Rule(
        "team",
        en(
            rf"i(?:'ve| have)? {NOW}(?:joined|moved(?: over)?(?: from .{{2,30}}?)? to|switched(?: from .{{2,30}}?)? to|transferred to) (?!another|a different|a new|the other)(?P<v>{_THE_TEAM})(?: (?:last|this|in|on|since) .{{2,20}})?{END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule(
        "team",
        en(
            rf"my (?:team|department) is (?:called (?P<v>[\w &'-]{{2,30}}?)|(?P<v2>{_THE_TEAM}|sales|marketing|logistics|procurement|finance|hr|engineering|product|design|legal|operations|support)){END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule(
        "team",
        zh(rf"我(?:已经|现在)?(?:离开|不在)(?:了)?(?P<v>[^，,。]{{2,14}}?{_TEAM_ZH})(?:工作|上班)?{END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "team",
        zh(rf"我{NOW_ZH}(?:在|是|属于|加入了?|调到了?|转到了?|调去了?)(?!第|这|那|一|同)(?P<v>[^，,。]{{1,14}}?{_TEAM_ZH})(?:工作|上班|任职|的)?{END_ZH}"),
        single=True,
        importance=0.7,
    ),
    Rule("team", zh(rf"我的?(?:部门|团队)(?:叫|是(?!新|个|一个|最|很|刚))(?P<v>[^，,。]{{1,12}}?){END_ZH}"), single=True, importance=0.7),
    Rule(
        "team",
        en(
            rf"i(?:'m| am) no longer (?:on|in|with) (?P<v>sales|marketing|logistics|procurement|finance|hr|engineering|product|design|legal|operations|support){END}"
        ),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "employer",
        en(rf"i (?:no longer|don't|do not) work (?:at|for) {_NO_FIRM}(?P<v>[\w &'.-]{{2,40}}?)(?: any ?more)?{END}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "employer",
        en(rf"i(?:'ve| have)? (?:left|quit) (?P<v>(?-i:[A-Z])[\w&'.-]+(?: (?-i:[A-Z])[\w&'.-]+)?){END}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "employer",
        en(rf"i(?:'ve been|'m| am)? {NOW}(?:work|working) (?:at|for) {_NO_FIRM}(?P<v>[\w &'.-]{{2,40}}?)(?: (?:since|as an?) .{{2,30}})?{END}"),
        single=True,
        importance=0.7,
    ),
    Rule(
        "employer",
        en(rf"i(?:'ve| have)? {NOW}joined (?P<v>(?-i:[A-Z])[\w&'.-]+(?: (?-i:[A-Z])[\w&'.-]+)?)(?: (?:last|this|in) .{{2,20}})?{END}"),
        single=True,
        importance=0.7,
    ),
    Rule("employer", en(rf"my (?:employer|company) is (?:called )?{_STATE}(?P<v>(?-i:[A-Z])[\w &'.-]{{1,40}}?){END}"), single=True, importance=0.7),
    Rule(
        "employer",
        zh(rf"我(?:已经|现在)?(?:不再|不)(?:在)?(?P<v>[^，,。]{{2,16}}?)(?:工作|上班|任职){END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "employer",
        zh(rf"我(?:已经|刚|刚刚)*从(?!会议室|这|那)(?P<v>[^，,。]{{2,16}}?)(?:离职|辞职){END_ZH}"),
        single=True,
        negated=True,
        retracts=True,
        importance=0.6,
    ),
    Rule(
        "employer",
        zh(
            rf"我{NOW_ZH}(?:在|就职于|任职于|供职于|入职了?)(?!家|这|那|公司群|群|会议室|电脑|线上)(?P<v>[^，,。点群]{{2,16}}?)(?:工作|上班|任职|打工|做.{{1,8}}){END_ZH}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule("employer", zh(rf"我{NOW_ZH}(?:就职于|任职于|供职于|入职了?)(?P<v>[^，,。]{{2,16}}?){END_ZH}"), single=True, importance=0.7),
    Rule(
        "employer",
        zh(rf"我的?(?:公司|单位)(?:叫|是(?!上市|一家|家|个|做|国企|外企|私企|新|大|小))(?P<v>[^，,。]{{2,16}}?){END_ZH}"),
        single=True,
        importance=0.7,
    ),
    Rule("duty", en(rf"i(?:'m| am) {NOW}(?:responsible for|in charge of) (?P<o>[\w &'-]{{3,50}}?){END}"), keyed=True, importance=0.6),
    Rule("duty", en(rf"i {NOW}(?:lead|manage|head|run) (?:the |our )(?P<o>[\w &'-]{{2,30}}? {_TEAM}){END}"), keyed=True, importance=0.6),
    Rule("duty", zh(rf"我{NOW_ZH}(?:管理|带领|领导|带)(?P<o>[^，,。]{{1,12}}?(?:团队|部门|小组|组)){END_ZH}"), keyed=True, importance=0.6),
    Rule(
        "employer",
        en(rf"i(?:'ve| have) been (?:at|with) {_NO_FIRM}(?P<v>(?-i:[A-Z])[\w&'.-]+(?: (?-i:[A-Z])[\w&'.-]+)?) (?:for|since) .{{2,30}}?{END}"),
        single=True,
        importance=0.7,
    ),
    Rule("employer", zh(rf"我(?:\d{{4}}年|去年|今年|前年|上个?月|刚刚?)*(?:加入|入职)了?(?P<v>[^，,。]{{2,16}}?){END_ZH}"), single=True, importance=0.7),
    Rule("duty", zh(rf"我{NOW_ZH}(?:主要)?(?:负责(?!任)|主管|牵头)(?P<o>[^，,。]{{2,16}}?){END_ZH}"), keyed=True, importance=0.6),
    Rule(
        "manager",
        en(rf"(?:my (?:line |direct |new )?(?:manager|boss|supervisor|team lead)(?: is|'s)(?: now)?|i report(?: directly)? to) (?P<v>{NAME}){END}"),
        single=True,
        importance=0.6,
    ),
    Rule(
        "manager",
        zh(
            rf"(?:我的?(?:直属|新)*(?:经理|领导|老板|主管|上级|上司)(?:现在)?(?:是|叫)(?P<v>{NAME_ZH})|我(?:现在)?(?:直接)?(?:向|跟)(?P<v2>{NAME_ZH})汇报){END_ZH}"
        ),
        single=True,
        importance=0.6,
    ),
    # --- when ----------------------------------------------------------------------------------------------------------------------
    Rule(
        "timezone",
        en(rf"my (?:time ?zone|tz)(?:'s| is) (?:now |set to )*(?!wrong|different|off\b|the same|in\b|missing|confus)(?P<v>[\w/+: -]{{2,30}}?){END}"),
        single=True,
        importance=0.7,
    ),
    Rule(
        "timezone",
        en(rf"i(?:'m| am) (?:in|on) (?P<v>(?:utc|gmt) ?[+-]\d{{1,2}}(?::\d\d)?|(?:[pmce]st|cet|jst|ist)|(?:the )?[\w ]{{3,20}} time(?: ?zone)?){END}"),
        single=True,
        importance=0.7,
    ),
    Rule("timezone", zh(rf"我(?:的|所在的?)时区(?:是|在)?(?P<v>[^，,。]{{2,16}}?){END_ZH}"), single=True, importance=0.7),
    Rule(
        "timezone", zh(rf"我{NOW_ZH}(?:在|用|按)(?P<v>[东西][一二三四五六七八九十]{{1,2}}区|(?:北京|东京|伦敦|纽约)时间){END_ZH}"), single=True, importance=0.7
    ),
    Rule(
        "working_hours",
        en(
            rf"my (?:normal |usual |regular )?(?:working|work|office|business) hours are (?:now |from )*(?!wrong|long\b|crazy|too\b|in the|over\b|not\b|different|the same|missing)(?P<v>[\w :.,–-]{{3,40}}?){END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule(
        "working_hours",
        en(
            rf"i(?:'m| am)? {NOW}(?:usually |normally |only |mostly )*(?:work(?:ing)?|online|available|in the office|at my desk) (?P<v>(?:from |between )?{_TIME} ?(?:to|until|till|and|-|–) ?{_TIME}){END}"
        ),
        single=True,
        importance=0.7,
    ),
    Rule("working_hours", en(rf"i only work (?:in the )?(?P<v>mornings?|afternoons?|evenings?){END}"), single=True, importance=0.7),
    Rule("working_hours", zh(rf"我的?(?:正常)?(?:工作|上班|办公|在线)时间(?:一般)?(?:是|为|在)(?P<v>[^，,。]{{3,20}}?){END_ZH}"), single=True, importance=0.7),
    Rule(
        "working_hours",
        zh(rf"我{NOW_ZH}(?:每天|平时|一般|通常)*(?P<v>(?:从)?{_TIME_ZH}(?:到|至|-|~){_TIME_ZH}|朝九晚[五六])(?:上班|工作|在线|在公司)?{END_ZH}"),
        single=True,
        importance=0.7,
    ),
    Rule("working_hours", zh(rf"我只(?:在)?(?P<v>上午|下午|晚上)(?:上班|工作|在线){END_ZH}"), single=True, importance=0.7),
    Rule(
        "working_days",
        en(rf"i (?:don't|do not|never|no longer) work (?:on )?(?P<o>{_DAY}(?:(?:,| and| or) {_DAY})*){END}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.7,
    ),
    Rule(
        "working_days",
        en(rf"i(?:'m| am) (?:off|not in|not working) (?:on |every )(?P<o>(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends){END}"),
        keyed=True,
        negated=True,
        importance=0.7,
    ),
    Rule("working_days", en(rf"i (?:only )?work (?:from )?(?P<v>{_DAY} (?:to|through|till|until|-) {_DAY}){END}"), single=True, importance=0.7),
    Rule(
        "working_days",
        zh(rf"我(?P<o>{_DAY_ZH}(?:[和、]{_DAY_ZH})*)(?:都|从来|一般)*不(?:上班|工作|在公司){END_ZH}"),
        keyed=True,
        several=True,
        negated=True,
        importance=0.7,
    ),
    Rule("working_days", zh(rf"我(?:只)?(?P<v>{_DAY_ZH}(?:到|至){_DAY_ZH})(?:上班|工作){END_ZH}"), single=True, importance=0.7),
    Rule(
        "work_mode",
        en(rf"i {NOW}(?:work|working) (?:mostly |fully )?(?P<v>remotely|from home|part[- ]time|full[- ]time|night shifts?)(?: on (?P<o>{_DAY}))?{END}"),
        single=True,
        importance=0.6,
    ),
    Rule(
        "work_mode",
        zh(rf"我{NOW_ZH}(?:都|主要|一直|{_DAY_ZH})*(?P<v>在家办公|居家办公|在家工作|远程办公|远程工作|兼职|上夜班|全职){END_ZH}"),
        single=True,
        importance=0.6,
    ),
    Rule(
        "seat",
        en(
            rf"my (?:desk|seat) is (?:now )?(?!in a mess|on fire|in use|in the way|at risk|on order)(?P<v>(?:in|on|at|by|near|next to|beside|behind|opposite|number|no\.?) .{{1,50}}?|[\w-]*\d[\w-]*){END}"
        ),
        single=True,
        importance=0.6,
    ),
    Rule(
        "seat",
        en(rf"i {NOW}sit (?P<v>(?:at|on|by|near|next to|beside|behind|opposite|in) (?!on\b|the sun\b|silence\b).{{3,50}}?){END}"),
        single=True,
        importance=0.6,
    ),
    Rule("seat", zh(rf"我的?(?:工位|座位|位子)(?:现在)?(?:就)?(?:在|是)(?P<v>[^，,。]{{2,24}}?){END_ZH}"), single=True, importance=0.6),
    Rule("seat", zh(rf"我{NOW_ZH}坐在?(?P<v>[\w]{{1,4}}(?:楼|层|排|区|号)[^，,。]{{0,16}}?)(?:的位置)?{END_ZH}"), single=True, importance=0.6),
    Rule("working_days", en(rf"i have (?P<o>(?:mon|tues|wednes|thurs|fri)days) off{END}"), keyed=True, negated=True, importance=0.7),
    Rule("working_days", zh(rf"我(?:每|每个)(?P<o>{_DAY_ZH})(?:都)?(?:休息|休|放假){END_ZH}"), keyed=True, negated=True, importance=0.7),
)
