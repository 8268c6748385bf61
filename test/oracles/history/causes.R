# Oracle of competing causes: Aalen-Johansen (survfit), Gray's test (cmprsk), cause-specific Cox and Fine-Gray (finegray, crr), scores
# (riskRegression, pec). Run from the repository root: Rscript test/oracles/history/causes.R   (writes test/oracles/history/causes.json)
suppressMessages({library(survival); library(cmprsk); library(riskRegression); library(pec); library(prodlim); library(jsonlite)}); options(warn=1)
tight<-coxph.control(eps=1e-13,toler.chol=1e-14,iter.max=50)
read<-function(name) read.csv(paste0("test/tables/",name,".csv"))
mgus2<-read("mgus2"); transplant<-read("transplant"); pbc<-read("pbc")
mgus2$e<-factor(mgus2$event,c("censored","pcm","death")); mgus2$code<-as.integer(mgus2$e)-1; mgus2$male<-1*(mgus2$sex=="M")
transplant$e<-factor(transplant$event,c("censored","death","ltx","withdraw")); transplant$code<-as.integer(transplant$e)-1
curves<-function(f) list(time=f$time,atRisk=f$n.risk[,1],pstate=f$pstate,error=f$std.err,lower=f$lower,upper=f$upper)
aj<-list(
 plain=curves(survfit(Surv(months,e)~1,mgus2)),
 loglog=curves(survfit(Surv(months,e)~1,mgus2,conf.type="log-log")),
 weights=curves(survfit(Surv(months,e)~1,mgus2,weights=weight)),
 entry=curves(survfit(Surv(ageMonths,exitMonths,e)~1,mgus2,id=id)),
 transplant=curves(survfit(Surv(futime,e)~1,transplant)))
gray<-function(time,code,group) unname(cuminc(time,code,group)$Tests)
band<-cut(mgus2$hgb,c(0,12,14,99),labels=FALSE)
tests<-list(sex=gray(mgus2$months,mgus2$code,mgus2$sex),band=gray(mgus2$months,mgus2$code,band),
 tied=gray(ceiling(mgus2$months/24),mgus2$code,band),abo=gray(transplant$futime,transplant$code,transplant$abo))
fg<-finegray(Surv(months,e)~.,data=mgus2[,c("id","months","e","male","hgb","creat","weight")],etype="pcm")
fgd<-finegray(Surv(months,e)~.,data=mgus2[,c("id","months","e","male","hgb","creat","weight")],etype="death")
say<-function(f){ b<-basehaz(f,centered=FALSE); list(coef=unname(coef(f)),se=unname(sqrt(diag(f$naive.var))),robust=unname(sqrt(diag(f$var))),loglik=f$loglik,
  hazard_time=b$time,hazard=b$hazard) }
fit<-function(d,ties) coxph(Surv(fgstart,fgstop,fgstatus)~male+hgb+creat,d,weights=fgwt,cluster=id,ties=ties,control=tight)
# crr breaks ties of events and censorings in another way: it agrees where there are none
untied<-mgus2; untied$months<-untied$months+rank(untied$id)/1000
crrfit<-crr(untied$months,untied$code,as.matrix(mgus2[,c("male","hgb","creat")]),failcode=1,gtol=1e-12,maxiter=50)
fine<-list(pcm=list(efron=say(fit(fg,"efron")),breslow=say(fit(fg,"breslow"))),death=list(efron=say(fit(fgd,"efron")),breslow=say(fit(fgd,"breslow"))),
 crr=list(time=untied$months,coef=unname(crrfit$coef),loglik=crrfit$loglik))
p<-predict(crrfit,cbind(1,13,1)); fine$crr$predicted_time<-p[,1]; fine$crr$predicted<-p[,2]
# cause-specific models and the incidence that follows from both
csc<-CSC(Hist(months,code)~male+hgb+creat,mgus2,fitter="coxph",control=tight)
person<-data.frame(male=c(0,1),hgb=c(12,14),creat=c(1,1.5)); at<-c(12,60,120,240)
specific<-list(times=at,pcm=predict(csc,person,times=at,cause=1)$absRisk,death=predict(csc,person,times=at,cause=2)$absRisk,
 coef=lapply(csc$models,function(m) unname(coef(m))))
# scores of a risk made up from the features: F(t) = 1 - exp(-rate t)
rate<-function(d,cause) if(cause==1) exp(-7+0.15*d$mspike+0.02*d$hgb) else exp(-6+0.35*d$male-0.05*d$hgb+0.1*d$creat)
times<-c(24,60,120,200)
score<-function(cause){
  P<-1-exp(-outer(rate(mgus2,cause),times)); P<-round(P,3) # ties
  s<-suppressWarnings(Score(list(m=P),formula=Hist(months,code)~1,data=mgus2,cause=cause,times=times,cens.model="km",metrics=c("brier","auc"),summary="ibs",null.model=FALSE,se.fit=FALSE,conf.int=FALSE))
  w<-suppressMessages(suppressWarnings(cindex(list(m=P),formula=Hist(months,code)~1,data=mgus2,cause=cause,eval.times=times,cens.model="marginal",verbose=FALSE)))
  b<-as.data.frame(s$Brier$score); a<-as.data.frame(s$AUC$score)
  list(risk=P,brier=b$Brier,ibs=b$IBS,auc=a$AUC,wolbers=unname(w$AppCindex$m),pairs=unname(w$Pairs$m))
}
out<-list(source=paste0("R ",getRversion(),paste0(", ",c("survival","cmprsk","riskRegression","pec")," ",sapply(c("survival","cmprsk","riskRegression","pec"),function(p) as.character(packageVersion(p))),collapse="")),
 aj=aj,gray=tests,fine=fine,specific=specific,score_times=times,scores=list(pcm=score(1),death=score(2)))
writeLines(toJSON(out,digits=I(17),auto_unbox=TRUE,na="null"),"test/oracles/history/causes.json")
