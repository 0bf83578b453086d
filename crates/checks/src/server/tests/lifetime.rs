//! Servers are kept for as long as they are of use, and no longer.

use super::*;

#[test]
fn one_server_answers_all_questions_of_a_project() {
    let trial = Trial::new("pull");
    for number in 0..4 {
        let text = format!("bad {number}\n");
        assert_eq!(found(&trial.judge("a.txt", Some("x\n"), &text)), ["1:1 new seen bad"]);
    }
    assert_eq!(trial.noted("started").len(), 1);
}

#[test]
fn what_it_loads_is_waited_for() {
    let trial = Trial::with("loading", Has::ServerAlone, "ready: '^loaded'", PoolLimits::default());
    assert_eq!(found(&trial.judge("a.txt", None, "bad\n")).len(), 1);
    let log = trial.log();
    let at = |start: &str| log.iter().position(|line| line.starts_with(start)).unwrap();
    assert!(at("loaded") < at("didOpen"), "{log:?}");
}

#[test]
fn an_idle_server_is_ended_and_restarted() {
    let limits = PoolLimits { idle_timeout: Duration::from_millis(100), ..PoolLimits::default() };
    let trial = Trial::with("pull", Has::ServerAlone, "", limits);
    trial.judge("a.txt", None, "bad\n");
    let first = trial.noted("started");
    wait_for("its end", || first.iter().all(|pid| !lives(pid)));
    assert_eq!(found(&trial.judge("a.txt", None, "bad y\n")), ["1:1 new seen bad"], "it did not die");
    assert_eq!(trial.noted("started").len(), 2);
    let patient = Trial::new("pull");
    patient.judge("a.txt", None, "bad\n");
    std::thread::sleep(Duration::from_millis(600));
    assert!(lives(&patient.noted("started")[0]), "the control: by default it stays");
}

#[test]
fn the_number_of_running_servers_is_limited() {
    let limits = PoolLimits { most_servers: 2, ..PoolLimits::default() };
    let trial = Trial::with("pull", Has::ServerAlone, "", limits);
    let trial = Trial {
        policy: Policy::parse(
            "quality.yaml",
            &format!(
                "define:\n  finder:\n    languages: ['*']\n    kind: server\n    cwd: [.project]\n    server: {{ command: [python3, '{SCRIPT}', pull, '{}'] }}\nquality_gates: {{ '*': [{{ tool: finder }}] }}\n",
                trial.path(".log").display()
            ),
        )
        .unwrap(),
        ..trial
    };
    for folder in ["p", "q", "r"] {
        std::fs::create_dir(trial.path(folder)).unwrap();
        trial.write(&format!("{folder}/.project"), "");
    }
    let judge = |folder: &str, text: &str| {
        assert_eq!(found(&trial.judge(&format!("{folder}/a.txt"), None, text)).len(), 1);
    };
    ["p", "q"].iter().for_each(|folder| judge(folder, "bad\n"));
    judge("p", "bad again\n");
    assert_eq!((trial.noted("started").len(), trial.runtime.pool.running_servers()), (2, 2));
    judge("r", "bad\n");
    let started = trial.noted("started");
    wait_for("the end of the one that was not asked for longest", || !lives(&started[1]));
    assert!(lives(&started[0]) && lives(&started[2]));
    assert_eq!(trial.runtime.pool.running_servers(), 2);
    // Another configuration takes the place of the old one.
    trial.write("p/.project", "changed");
    judge("p", "bad once more\n");
    wait_for("the end of the one before", || !lives(&started[0]));
}

#[test]
fn prewarming_starts_the_server() {
    let trial = Trial::new("pull");
    let warm = |trial: &Trial| {
        let env = GateEnv {
            root: trial.project.path(),
            exec_permission: &trial.permission,
            runtime: &trial.runtime,
            isolation: Isolation::None,
            cache: None,
        };
        let language = language_of("a.txt", None);
        env.prewarm(&trial.policy.effective_rules("a.txt", language, Profile::Edit), "a.txt", language);
    };
    warm(&trial);
    wait_for("its start", || trial.noted("started").len() == 1);
    warm(&trial);
    assert_eq!(found(&trial.judge("a.txt", None, "bad\n")), ["1:1 new seen bad"]);
    assert_eq!(trial.noted("started").len(), 1);
    let cold = Trial { runtime: GateRuntime::default(), ..Trial::new("pull") };
    warm(&cold);
    assert_eq!(cold.runtime.pool.running_servers(), 0, "the control: where none is kept");
}

#[test]
fn no_server_outlives_the_runtime() {
    let trial = Trial::new("children");
    assert_eq!(found(&trial.judge("a.txt", None, "bad\n")), ["1:1 new seen bad"]);
    let pids = [trial.noted("started"), trial.noted("child")].concat();
    assert!(pids.len() == 2 && pids.iter().all(|pid| lives(pid)), "the control: {pids:?}");
    drop(trial.runtime);
    assert!(!pids.iter().any(|pid| lives(pid)), "{pids:?}");
}
